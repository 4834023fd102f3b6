import { z } from "zod";

import type { Answer } from "../commands/answers.ts";
import type { Caller } from "../commands/idempotency.ts";
import { isError, orError, type OrError } from "../commands/or-error.ts";
import { BATCH_ERRORS_LENGTH, MAX_BATCH_ITEM_ERRORS, MAX_BATCH_ITEMS } from "../config/limits.ts";
import { ERRORS, HTTP_ERROR_CODES, type HttpErrorCode } from "../domain/error-codes.ts";
import { mapInSlices } from "../shared/in-slices.ts";
import { requireScopeFor, type ScopedCaller } from "./by-user.ts";
import type { HttpDeps } from "./deps.ts";
import { defineEndpoint, type Endpoint, Verbatim } from "./endpoint.ts";
import { acceptedExample } from "./examples.ts";
import { accepted, fieldErrors } from "./schemas/outputs.ts";
import { validateBody } from "./validate.ts";

/**
 * The body of a batch. Its items are validated one by one (`readItems`), because a wrong one must not refuse the others.
 * @param item id of the item's schema in the document.
 */
function batchBody(item: string) {
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
    error_code: z.enum(HTTP_ERROR_CODES).describe("See the list of error codes."),
    message: z.string().describe("What happened, and what to do next."),
    errors: fieldErrors,
  })
  .meta({ id: "ItemError", description: "The error that the single call would answer. Fields are those of the item." });

/** The answer to a batch. */
const batchResults = z
  .object({
    results: z.array(z.union([accepted, itemError])).describe("One result for each item, in the order of the items."),
  })
  .meta({ id: "BatchResults" });

/** What every batch does, for the document. */
const BATCH_RULES = `All items are stored in one commit, and decided in their order: an item sees what the items before it have used up. An item that is refused does not keep the others from being accepted, so **check every result**. The call itself fails only if \`items\` is not a list of 1 to ${MAX_BATCH_ITEMS.toLocaleString("en")} entries, or for what any call can fail for.

With an \`Idempotency-Key\`, a repeated call gets the same results, also the errors among them. Use a new key only when at least one result has a \`request_id\`: then send the refused items again. If no item was accepted, nothing is stored, and the key stays free. If, besides, an item is \`unavailable\`, the call itself fails with 503 \`unavailable\`: repeat it with the same key.

\`Retry-After\` is present if items were refused for lack of room (\`unavailable\`, \`quota_exceeded\`): send these again after that many seconds. A batch counts as one call for the rate limit, and its items have a limit of their own, the policy \`items\` in the headers. A batch with more items than are left of it gets 429 \`rate_limited\`, and nothing of it counts.`;

/** What is not the same in every batch. */
interface BatchSpec<B extends z.ZodType<object>> {
  name: string;
  summary: string;
  /** An example, and what it is. */
  title: string;
  items: z.input<B>[];
  /** Why an item of the example is refused. */
  refused: { code: HttpErrorCode; field: string };
  accept: (deps: HttpDeps, call: Caller, items: OrError<z.output<B>>[], isBatch: boolean) => Promise<Answer>;
}

/** The call that does the same as a single call, for many items. @param body of the single call. */
export function batchOf<B extends z.ZodType<object>>(
  single: Endpoint,
  body: B,
  { name, summary, title, items, refused: { code, field }, accept }: BatchSpec<B>,
): Endpoint {
  const { message } = ERRORS[code];
  const refused = { error_code: code, message, errors: [{ field, code: code as string, message }] };
  return defineEndpoint({
    method: "post",
    path: `${single.path}/batch`,
    summary,
    name,
    description: BATCH_RULES,
    examples: { bodies: { [title]: { items } }, answer: { results: [acceptedExample, refused] } },
    scope: single.scope,
    body: batchBody(body.meta()?.id ?? ""),
    response: batchResults,
    idempotent: true,
    batch: true,
    handle: async (deps, call, { response }) => {
      await deps.rates.countItems(call.appId, call.body.items.length, response);
      const { json, retryAfter } = await accept(deps, call, await readItems(call, body), true);
      return new Verbatim(json, retryAfter);
    },
  });
}

/** Milliseconds. Short, so that single calls of others wait little beside a stream of batches. */
const SLICE = 2;

/** Validates each item. @returns its fields, or the error that the single call would answer. */
async function readItems<S extends z.ZodType<object>>(
  { body: { items }, ...caller }: ScopedCaller & { body: { items: readonly unknown[] } },
  schema: S,
): Promise<OrError<z.output<S>>[]> {
  let length = 0;
  const check = (item: unknown) => {
    const most = length > BATCH_ERRORS_LENGTH ? 1 : MAX_BATCH_ITEM_ERRORS;
    const result = orError(() => {
      const fields = validateBody(schema, item, most);
      requireScopeFor(caller, fields);
      return fields;
    });
    if (isError(result)) length += JSON.stringify(result.body).length;
    return result;
  };
  return mapInSlices(items, check, SLICE);
}
