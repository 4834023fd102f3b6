import { z } from "zod";

import { MAX_CURSOR_LENGTH, MAX_LONG_PAGE, MAX_OFFSET, MAX_PAGE, MAX_PAGE_BYTES } from "../../config/limits.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { MAX_SEARCH_LENGTH } from "../../domain/filters.ts";
import type { Order, Page, PageQuery, Position } from "../../store/db/pages.ts";
import { address, refuse, text } from "./inputs.ts";

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

/**
 * `next` of an earlier answer.
 * @param form of its text: the name of its listing, and two parts that say where the page ended. @param more for its description
 */
export function cursorField<P extends object>(form: RegExp, read: (first: string, second: string) => P, more = "") {
  return z
    .string()
    .meta({ description: `\`next\` of the previous page.${more}`, maxLength: MAX_CURSOR_LENGTH })
    .transform((text, context): P & { listing: string } => {
      const [, listing, first, second] = form.exec(fromBase64(text)) ?? [];
      if (listing === undefined || first === undefined || second === undefined) {
        refuse(context, "invalid_format", "Must be the `next` of an earlier page of this listing.");
        return z.NEVER;
      }
      return { listing, ...read(first, second) };
    });
}

/** @throws ApiError `validation_failed` when a cursor is from another listing. */
export function requireListing(cursor: { listing: string }, listing: string): void {
  if (cursor.listing !== listing)
    throw refusal("invalid_format", "This cursor is from another listing. Use the `next` of this one.");
}

const cursor = cursorField(
  /^([a-z_]+)\.(\d{1,15})\.(\d{1,15})$/,
  (after, offset): Position => ({ after: Number(after), offset: Number(offset) }),
  " Cannot be combined with `offset`.",
);

/** The text of a cursor; empty when it is longer than any cursor. */
export function fromBase64(text: string): string {
  if (text.length > MAX_CURSOR_LENGTH) return "";
  return Buffer.from(text, "base64url").toString("latin1");
}

/** Query parameters of every listing. */
export const pageFields = {
  limit: number(1, MAX_PAGE, "Most items on the page. The default is the maximum.")
    .optional()
    .meta({ param: { id: "Limit" } }),
  offset: number(
    0,
    MAX_OFFSET,
    "Items to skip. The default is 0. Use `cursor` to go further than the maximum.",
    " To go further, follow `next` with `cursor`.",
  )
    .optional()
    .meta({ param: { id: "Offset" } }),
  cursor: cursor.optional().meta({ param: { id: "Cursor" } }),
};
export const pageQuery = z.strictObject(pageFields);

/** The same for a list that the interface does not bound, so that it is read with fewer calls. */
export const longPageFields = {
  ...pageFields,
  limit: number(1, MAX_LONG_PAGE, `Most items on the page. The default is ${MAX_PAGE.toString()}.`)
    .optional()
    .meta({ param: { id: "LongLimit" } }),
};
export const longPageQuery = z.strictObject(longPageFields);
export type PageInput = z.output<typeof pageQuery>;

/** Query parameter of a listing that can be read from either end. @param usual without the parameter */
export function orderField(usual: Order, more = "") {
  const description = `Which come first, by their creation. The default is \`${usual}\`.${more}`;
  return z.enum(["newest", "oldest"]).optional().describe(description);
}

/** The listing that a cursor must come from: the two orders of a listing have cursors of their own. */
export function listingOf(name: string, order: Order, usual: Order): string {
  return order === usual ? name : `${name}_${order}`;
}

const ADDRESS_LENGTH = 42;
const addresses = z
  .string()
  .meta({
    description: `Only those with these addresses: at most ${MAX_PAGE.toString()}, separated by commas. Those that the app does not have are left out, and the last ones where they would not fit into an answer: \`limit\` and \`total\` then say how many it has. All come on one page, so this cannot be combined with \`limit\`, \`offset\`, \`cursor\`, \`order\` or \`search\`.`,
    maxLength: MAX_PAGE * (ADDRESS_LENGTH + 1) - 1,
  })
  .transform((text) => text.split(",", MAX_PAGE + 1))
  .pipe(z.array(address).max(MAX_PAGE))
  .optional()
  .meta({ param: { id: "Addresses" } });

/** @param others the parameters with which it cannot be combined */
export function searchField(begins: string, others: string) {
  return text(MAX_SEARCH_LENGTH, 1).describe(
    `Only those whose ${begins} begins with this text. Capital letters from A to Z do not count. The first ones come on one page of at most \`limit\`, and \`total\` counts these: to find others, send more of the text. Cannot be combined with ${others}.`,
  );
}

const oldestFirst = orderField("oldest").meta({ param: { id: "Order" } });

/** Query parameters of a listing that can also look up what is at some addresses, and what begins with a text. @param begins what */
export function searchableQuery(begins: string) {
  const search = searchField(begins, "`offset`, `cursor`, `order` or `addresses`");
  return z
    .strictObject({
      ...longPageFields,
      order: oldestFirst,
      addresses,
      search: search.optional(),
    })
    .check((context) => {
      const { addresses: wanted, search: sought, limit, ...place } = context.value;
      if (wanted !== undefined) refuseOthers(context, "addresses", { limit, ...place, search: sought });
      else if (sought !== undefined) refuseOthers(context, "search", place);
    });
}

/** Refuses the parameters that are given. */
export function refuseOthers(
  context: Parameters<typeof refuse>[0],
  name: string,
  others: Record<string, unknown>,
): void {
  for (const [other, value] of Object.entries(others)) {
    if (value !== undefined) refuse(context, "conflict", `Cannot be combined with \`${name}\`.`, [other]);
  }
}

/** The only page of what was found. */
export function pageOfFound<T>(found: readonly (T | undefined)[], limit = MAX_PAGE): Page<T> {
  const items = found.filter((item) => item !== undefined);
  return { items, total: items.length, limit, offset: 0, next: null, positions: [] };
}

/** @param listing the listing that the cursor must come from. */
export function readPage(input: PageInput, listing: string): PageQuery {
  const limit = input.limit ?? MAX_PAGE;
  if (input.cursor === undefined) return { limit, offset: input.offset ?? 0, after: null };
  if (input.offset !== undefined) throw refusal("conflict", "Cannot be combined with `offset`. Send only one of them.");
  requireListing(input.cursor, listing);
  return { limit, offset: input.cursor.offset, after: input.cursor.after };
}

function refusal(code: string, message: string): ApiError {
  return new ApiError("validation_failed", [{ field: "cursor", code, message }]);
}

/** What `answerBody` needs of an answer that is a page. The key is a symbol, so JSON leaves it out. */
const PAGE = Symbol("page");

interface PageAnswer {
  [PAGE]: {
    /** Under which the answer has its items. */
    key: string;
    items: readonly unknown[];
    /** The fields that change when the page has only `count` items. */
    shorter: (count: number) => object;
  };
}

/**
 * The wire form of a page.
 * @param key under which the answer has its items.
 * @param items the items of the page as the caller gets them.
 * @param rest further fields of the answer.
 */
export function pageAnswer<K extends string, T, R extends object = object>(
  page: Page<unknown>,
  listing: string,
  key: K,
  items: readonly T[],
  rest?: R,
) {
  const { total, limit, offset } = page;
  const cursorOf = (position: Position | null) => (position === null ? null : writeCursor(listing, position));
  // Items found by a search or by their addresses are on one page, without positions. Those that do not fit are not counted.
  const found = page.positions.length === 0;
  const shorter = (count: number) => ({
    limit: count,
    next: cursorOf(page.positions[count - 1] ?? null),
    ...(found ? { total: count } : {}),
  });
  const frame = { total, limit, offset, next: cursorOf(page.next) };
  const answer = { ...rest, [key]: items, ...frame, [PAGE]: { key, items, shorter } };
  // The type of a computed key is not the type of its text.
  return answer as unknown as R & Record<K, T[]> & typeof frame;
}

/** A character of JavaScript has at most this many bytes in UTF-8. */
const BYTES_OF_CHARACTER = 3;
const [COMMA, END_OF_ITEMS, END] = [",", "]", "}"].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/**
 * The JSON of an answer. A page of more than `MAX_PAGE_BYTES` ends early, but has at least one item: `limit` is then the number of
 * its items, and `next` goes on after them.
 *
 * Bytes, because Node would join a text with the headers, and encode both more slowly.
 */
export function answerBody(answer: unknown): Buffer {
  if (!isPage(answer)) return Buffer.from(JSON.stringify(answer));
  const { key, items, shorter } = answer[PAGE];
  // Most pages are small, and making one as a whole is faster. Whether it is small is guessed from its first item.
  const isSmall = (characters: number) => characters <= MAX_PAGE_BYTES / BYTES_OF_CHARACTER;
  if (isSmall(JSON.stringify(items.at(0) ?? null).length * items.length)) {
    const whole = JSON.stringify(answer);
    if (isSmall(whole.length)) return Buffer.from(whole);
  }
  let left = MAX_PAGE_BYTES - MAX_CURSOR_LENGTH - Buffer.byteLength(JSON.stringify({ ...answer, [key]: [] }));
  const shown: Buffer[] = [];
  // Items that do not fit are not serialized: together they may be many times as large as the page.
  for (const item of items) {
    // Bytes, not text: a text of megabytes would be copied once more to count its bytes, and again to send it.
    const bytes = Buffer.from(JSON.stringify(item));
    left -= bytes.length + 1;
    if (left < 0 && shown.length > 0) break;
    shown.push(bytes);
  }
  const fields = { ...answer, ...(shown.length < items.length ? shorter(shown.length) : {}) };
  const parts = Object.entries(fields).flatMap(([name, value], index) => {
    const start = `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`;
    if (name !== key) return [Buffer.from(start + JSON.stringify(value))];
    return [
      Buffer.from(`${start}[`),
      ...shown.flatMap((item, at) => (at === 0 ? [item] : [COMMA, item])),
      END_OF_ITEMS,
    ];
  });
  return Buffer.concat([...parts, END]);
}

function isPage(answer: unknown): answer is PageAnswer {
  return typeof answer === "object" && answer !== null && PAGE in answer;
}

function writeCursor(listing: string, { after, offset }: Position): string {
  return toBase64(`${listing}.${after.toString()}.${offset.toString()}`);
}

export function toBase64(text: string): string {
  return Buffer.from(text, "latin1").toString("base64url");
}

/** The items of a page. */
export function pageSchema<S extends z.ZodType>(item: S) {
  return z.array(item).describe("The items of this page.");
}

export const pageFrameFields = {
  total: z.int().nonnegative().describe("Items in the whole listing."),
  limit: z
    .int()
    .positive()
    .describe(
      `Most items on this page. Fewer than asked for when they would have more than ${(MAX_PAGE_BYTES / 1_048_576).toString()} MiB.`,
    ),
  offset: z.int().nonnegative().describe("Items of the listing before this page."),
  next: z.string().nullable().describe("Cursor of the next page; null at the end."),
};
