import { z } from "zod";

import { isError, orError, type OrError } from "../commands/or-error.ts";
import { BATCH_ERRORS_LENGTH, MAX_BATCH_ITEM_ERRORS, MAX_BATCH_ITEMS } from "../config/limits.ts";
import { HTTP_ERROR_CODES } from "../domain/error-codes.ts";
import { mapInSlices } from "../shared/in-slices.ts";
import type { HttpDeps } from "./deps.ts";
import type { Exchange } from "./endpoint.ts";
import { accepted, fieldErrors } from "./schemas/outputs.ts";
import { validateBody } from "./validate.ts";

/**
 * The body of a batch. Its items are validated one by one (`readItems`), because a wrong one must not refuse the others.
 * @param item id of the item's schema in the document.
 */
export function batchBody(item: string) {
  return z.strictObject({
    items: z
      .array(z.unknown())
      .min(1)
      .max(MAX_BATCH_ITEMS)
      .meta({
        description: `1 to ${MAX_BATCH_ITEMS.toString()} items, each with the body of the single call.`,
        override: { items: { $ref: `#/components/schemas/${item}` } },
      }),
  });
}

const itemError = z
  .object({
    error_code: z.enum(HTTP_ERROR_CODES).meta({ description: "See the list of error codes." }),
    message: z.string().meta({ description: "What happened, and what to do next." }),
    errors: fieldErrors,
  })
  .meta({ id: "ItemError", description: "The error that the single call would answer. Fields are those of the item." });

/** The answer to a batch. */
export const batchResults = z
  .object({
    results: z
      .array(z.union([accepted, itemError]))
      .meta({ description: "One result for each item, in the order of the items." }),
  })
  .meta({ id: "BatchResults" });

/** What every batch does, for the document. */
export const BATCH_RULES = `All items are stored in one commit, and decided in their order: an item sees what the items before it have used up. An item that is refused does not keep the others from being accepted, so **check every result**. The call itself fails only if \`items\` is not a list of 1 to ${MAX_BATCH_ITEMS.toLocaleString("en")} entries, or for what any call can fail for.

With an \`Idempotency-Key\`, a repeated call gets the same results, also the errors among them. Use a new key only when at least one result has a \`request_id\`: then send the refused items again. If no item was accepted, nothing is stored, and the key stays free. If, besides, an item is \`unavailable\`, the call itself fails with 503 \`unavailable\`: repeat it with the same key.

\`Retry-After\` is present if items were refused for lack of room (\`unavailable\`, \`quota_exceeded\`): send these again after that many seconds. A batch counts as one call for the rate limit, and its items have a limit of their own, the policy \`items\` in the headers. A batch with more items than are left of it gets 429 \`rate_limited\`, and nothing of it counts.`;

/** Milliseconds. Short, so that single calls of others wait little beside a stream of batches. */
const SLICE = 2;

/**
 * Counts the items of a batch for its app's limit, and validates each.
 * @returns its fields, or the error that the single call would answer.
 * @throws ApiError `rate_limited`, `validation_failed`
 */
export async function readItems<S extends z.ZodType>(
  { rates }: Pick<HttpDeps, "rates">,
  { appId, body: { items } }: { appId: string; body: { items: readonly unknown[] } },
  { response }: Exchange,
  schema: S,
): Promise<OrError<z.output<S>>[]> {
  await rates.countItems(appId, items.length, response);
  let length = 0;
  const check = (item: unknown) => {
    const most = length > BATCH_ERRORS_LENGTH ? 1 : MAX_BATCH_ITEM_ERRORS;
    const result = orError(() => validateBody(schema, item, most));
    if (isError(result)) length += JSON.stringify(result.body).length;
    return result;
  };
  return mapInSlices(items, check, SLICE);
}
