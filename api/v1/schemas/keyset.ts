import { z } from "zod";

import { MAX_PAGE } from "../../config/limits.ts";
import type { Keyset, KeysetPage, KeysetQuery } from "../../store/db/pages.ts";
import { cursorField, pageFields, requireListing, toBase64 } from "./pages.ts";

const cursor = cursorField(/^([a-z_]+)\.(\d{1,15})\.([\w-]{1,64})$/, (at, id): Keyset => ({ at: Number(at), id }));

/** Query parameters of listings without row numbers. */
export const keysetQuery = z.strictObject({ limit: pageFields.limit, cursor: cursor.optional() });

/** @param listing the listing that the cursor must come from. */
export function readKeyset(input: z.output<typeof keysetQuery>, listing: string): KeysetQuery {
  const limit = input.limit ?? MAX_PAGE;
  if (input.cursor === undefined) return { limit, after: null };
  requireListing(input.cursor, listing);
  return { limit, after: { at: input.cursor.at, id: input.cursor.id } };
}

/** The cursor of the next page. */
export function nextKeyset({ next }: KeysetPage<unknown>, listing: string): string | null {
  return next === null ? null : toBase64(`${listing}.${next.at.toString()}.${next.id}`);
}

export const nextField = z.string().nullable().describe("Cursor of the next page; null at the end.");
