import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** What the shop gives away. */
export interface Picture {
  id: string;
  title: string;
  /** Describes the picture to people who do not see it. */
  alt: string;
}

export const CATALOG: readonly Picture[] = [
  { id: "lighthouse", title: "Lighthouse", alt: "A red and white lighthouse above the sea at noon" },
  { id: "mountains", title: "Mountains", alt: "Snowy mountains behind a lake in the morning" },
  { id: "desert", title: "Desert", alt: "A cactus between dunes under a low sun" },
  { id: "forest", title: "Forest", alt: "Fir trees in the mist" },
  { id: "island", title: "Island", alt: "A palm tree on a small island at dusk" },
  { id: "city", title: "City", alt: "A city at night, with lights in the windows" },
];

export const PUBLIC_FOLDER = join(import.meta.dirname, "public");

/** The picture with this id. A visitor's browser sends the id, so it may be anything. */
export function findPicture(id: unknown): Picture | null {
  return CATALOG.find((picture) => picture.id === id) ?? null;
}

export async function fileOf(picture: Picture): Promise<Blob> {
  const bytes = await readFile(join(PUBLIC_FOLDER, "pictures", `${picture.id}.svg`));
  return new Blob([bytes], { type: "image/svg+xml" });
}
