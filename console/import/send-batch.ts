import type { Shape } from "../../client/client.ts";
import { ConnectionFailed, refusalOf } from "../../client/errors.ts";
import { retryAfterOf } from "../../client/retries.ts";
import type { Item } from "../forms/csv/items.ts";
import type { SentBatch } from "../forms/csv/progress.ts";
import type { BatchAnswer } from "../forms/csv/run.ts";
import { sentenceOf } from "../parts/error-note.tsx";
import { client } from "../service/client.ts";

/** Answers because of what the batch holds. The service took nothing of it. */
const REFUSALS = [400, 413, 422];

/** Sends a batch. Repeated with the same key and items, it gets the same answer. */
export async function sendBatch({ key }: SentBatch, items: readonly Item[]): Promise<BatchAnswer> {
  try {
    const { data, error, response } = await client().POST("/v1/nfts/batch", {
      body: { items: items as unknown as Shape<"Mint">[] },
      headers: { "Idempotency-Key": key },
    });
    if (data !== undefined) return { is: "answered", results: data.results, retryAfter: retryAfterOf(response) };
    const refusal = refusalOf(response, error);
    const message = sentenceOf(refusal);
    return REFUSALS.includes(response.status) ? { is: "refused", message } : { is: "unknown", message };
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    return { is: "unknown", message: sentenceOf(error) };
  }
}
