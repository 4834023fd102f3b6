import { z } from "zod";

import { MAX_OFFSET, MAX_PAGE } from "../../config/limits.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { Page, PageQuery, Position } from "../../store/db/pages.ts";
import { refuse } from "./inputs.ts";

/** A whole number in a query string. */
export function number(least: number, most: number, description: string, instead = "") {
  return z
    .string()
    .meta({ description, type: "integer", minimum: least, maximum: most })
    .transform((text, context) => {
      const value = Number(text);
      if (!/^-?[0-9]{1,20}$/.test(text)) refuse(context, "wrong_type", "Must be a whole number.");
      else if (value < least) refuse(context, "too_small", `Must be at least ${least.toString()}.`);
      else if (value > most) refuse(context, "too_big", `Must be at most ${most.toString()}.${instead}`);
      else return value;
      return z.NEVER;
    });
}

interface Cursor extends Position {
  listing: string;
}

const cursor = z
  .string()
  .meta({ description: "`next` of the previous page. Cannot be combined with `offset`." })
  .transform((text, context): Cursor => {
    const [, listing, after, offset] = /^([a-z_]+)\.(\d{1,15})\.(\d{1,15})$/.exec(fromBase64(text)) ?? [];
    if (listing === undefined || after === undefined || offset === undefined) {
      refuse(context, "invalid_format", "Must be the `next` of an earlier page of this listing.");
      return z.NEVER;
    }
    return { listing, after: Number(after), offset: Number(offset) };
  });

export function fromBase64(text: string): string {
  return Buffer.from(text, "base64url").toString("latin1");
}

/** Query parameters of every listing. */
export const pageFields = {
  limit: number(1, MAX_PAGE, "Most items on the page. The default is the maximum.").optional(),
  offset: number(
    0,
    MAX_OFFSET,
    "Items to skip. The default is 0. Use `cursor` to go further than the maximum.",
    " To go further, follow `next` with `cursor`.",
  ).optional(),
  cursor: cursor.optional(),
};
export const pageQuery = z.strictObject(pageFields);
export type PageInput = z.output<typeof pageQuery>;

/** @param listing the listing that the cursor must come from. */
export function readPage(input: PageInput, listing: string): PageQuery {
  const limit = input.limit ?? MAX_PAGE;
  if (input.cursor === undefined) return { limit, offset: input.offset ?? 0, after: null };
  if (input.offset !== undefined) throw refusal("conflict", "Cannot be combined with `offset`. Send only one of them.");
  if (input.cursor.listing !== listing)
    throw refusal("invalid_format", "This cursor is from another listing. Use the `next` of this one.");
  return { limit, offset: input.cursor.offset, after: input.cursor.after };
}

function refusal(code: string, message: string): ApiError {
  return new ApiError("validation_failed", [{ field: "cursor", code, message }]);
}

/** The wire form of a page, without its items. */
export function pageFrame(page: Page<unknown>, listing: string) {
  const { total, limit, offset, next } = page;
  return { total, limit, offset, next: next === null ? null : writeCursor(listing, next) };
}

function writeCursor(listing: string, { after, offset }: Position): string {
  return toBase64(`${listing}.${after.toString()}.${offset.toString()}`);
}

export function toBase64(text: string): string {
  return Buffer.from(text, "latin1").toString("base64url");
}

/** The items of a page. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.array(item).meta({ description: "The items of this page." });
}

export const pageFrameFields = {
  total: z.int().nonnegative().meta({ description: "Items in the whole listing." }),
  limit: z.int().positive().meta({ description: "Most items on this page." }),
  offset: z.int().nonnegative().meta({ description: "Items of the listing before this page." }),
  next: z.string().nullable().meta({ description: "Cursor of the next page; null at the end." }),
};
