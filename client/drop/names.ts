/* Names of files in a folder. They are relative to it, with "/" between their parts. */

/** Most parts of a name: files in deeper folders are not looked at. */
export const DEPTH = 6;

/** Files that systems leave beside others, in lower case. */
const JUNK = ["thumbs.db", "ehthumbs.db", "desktop.ini"];

/** Whether a system made the file, or it is hidden. */
export function isJunk(name: string): boolean {
  return name
    .split("/")
    .some(
      (part) =>
        part.startsWith(".") || part === "__MACOSX" || part === "$RECYCLE.BIN" || JUNK.includes(part.toLowerCase()),
    );
}

export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/") + 1);
}

/** The name without folder and extension. */
export function stemOf(name: string): string {
  const base = baseOf(name);
  const dot = base.lastIndexOf(".");
  return dot <= 0 ? base : base.slice(0, dot);
}

/** 2 comes before 10. */
export function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true }) || (a < b ? -1 : 1);
}

/** The files of a folder. macOS writes names in another Unicode form (NFD) than tables have. */
export class Names {
  readonly #byForm: ReadonlyMap<string, string>;

  constructor(names: readonly string[]) {
    this.#byForm = new Map(names.map((name) => [name.normalize("NFC"), name]));
  }

  /**
   * @param name as the metadata has it @param places folders in which to look
   * @returns the name of the file, or what is wrong
   */
  find(name: string, places: readonly string[]): { file: string } | { problem: string } {
    const paths = places.map((place) => inside(place + name));
    for (const path of paths) {
      const file = path === null ? undefined : this.#byForm.get(path.normalize("NFC"));
      if (file !== undefined) return { file };
    }
    if (paths.includes(null)) return { problem: `${name} is outside of the folder. Move the file into the folder.` };
    const shown = places.map((place) => (place === "" ? "./" : place)).join(", ");
    return { problem: `the file ${name} does not exist in ${shown}.${this.#hint(name, places)}` };
  }

  #hint(name: string, places: readonly string[]): string {
    if (name.includes("\\")) return ' Write "/" in place of "\\".';
    const wanted = new Set(places.map((place) => fold(inside(place + name) ?? "")));
    const similar = [...this.#byForm.values()].find((file) => wanted.has(fold(file)));
    return similar === undefined ? "" : ` There is ${similar}: write capital and small letters as the file has them.`;
  }
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** Without `.` and `..`. @returns null when the path leaves the folder */
function inside(path: string): string | null {
  if (path.startsWith("/")) return null;
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return null;
    } else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** What the entry of a list says of its picture; empty: nothing */
export function imageOf(entry: unknown): string {
  const image = (entry as { image?: unknown } | null)?.image;
  return typeof image === "string" ? image : "";
}

/** The token id that an entry of a list says. */
export function idOfEntry(entry: unknown): string | null {
  const { token_id, tokenId } = (entry ?? {}) as Record<string, unknown>;
  const id = token_id ?? tokenId ?? null;
  return typeof id === "string" || typeof id === "number" ? id.toString() : null;
}

/** The name that an entry of a list has: its number, or that of its picture. */
export function stemOfEntry(entry: unknown): string | null {
  const fields = (entry ?? {}) as Record<string, unknown>;
  for (const name of ["token_id", "tokenId", "edition", "id"]) {
    const value = fields[name];
    if ((typeof value === "number" || typeof value === "string") && /^[0-9]+$/.test(value.toString()))
      return value.toString();
  }
  const { image } = fields;
  return typeof image === "string" && image !== "" ? stemOf(baseOf(image)) : null;
}
