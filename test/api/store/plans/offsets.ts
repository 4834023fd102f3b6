import { listings } from "./listings.ts";
import { bestOf, DEEPEST, type Tour } from "./tour.ts";

/** How long a listing takes, in milliseconds: its first page, and the page at the deepest offset. */
export interface OffsetCost {
  listing: string;
  first: number;
  deepest: number;
}

const TRIES = 5;

export async function measureOffsets(tour: Tour): Promise<OffsetCost[]> {
  const costs: OffsetCost[] = [];
  for (const [listing, list] of listings(tour)) {
    const first = await bestOf(TRIES, () => list({ limit: 30, offset: 0, after: null }));
    const deepest = await bestOf(TRIES, () => list({ limit: 30, offset: DEEPEST, after: null }));
    costs.push({ listing, first, deepest });
  }
  return costs;
}
