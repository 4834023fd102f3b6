import { z } from "zod";

import { MAX_CURSOR_LENGTH, MAX_PAGE } from "../../config/limits.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { Keyset, KeysetPage, KeysetQuery } from "../../store/db/pages.ts";
import { refuse } from "./inputs.ts";
import { fromBase64, pageFields, toBase64 } from "./pages.ts";

interface Cursor extends Keyset {
  listing: string;
}

const cursor = z
  .string()
  .meta({ description: "`next` of the previous page.", maxLength: MAX_CURSOR_LENGTH })
  .transform((text, context): Cursor => {
    const [, listing, at, id] = /^([a-z_]+)\.(\d{1,15})\.([\w-]{1,64})$/.exec(fromBase64(text)) ?? [];
    if (listing === undefined || at === undefined || id === undefined) {
      refuse(context, "invalid_format", "Must be the `next` of an earlier page of this listing.");
      return z.NEVER;
    }
    return { listing, at: Number(at), id };
  });

/** Query parameters of listings without row numbers. */
export const keysetQuery = z.strictObject({ limit: pageFields.limit, cursor: cursor.optional() });

/** @param listing the listing that the cursor must come from. */
export function readKeyset(input: z.output<typeof keysetQuery>, listing: string): KeysetQuery {
  const limit = input.limit ?? MAX_PAGE;
  if (input.cursor === undefined) return { limit, after: null };
  if (input.cursor.listing !== listing) {
    const message = "This cursor is from another listing. Use the `next` of this one.";
    throw new ApiError("validation_failed", [{ field: "cursor", code: "invalid_format", message }]);
  }
  return { limit, after: { at: input.cursor.at, id: input.cursor.id } };
}

/** The cursor of the next page. */
export function nextKeyset({ next }: KeysetPage<unknown>, listing: string): string | null {
  return next === null ? null : toBase64(`${listing}.${next.at.toString()}.${next.id}`);
}

export const nextField = z.string().nullable().meta({ description: "Cursor of the next page; null at the end." });
