import { batchAnswer } from "../../commands/answer-form.ts";
import { transfer } from "../../commands/transfer.ts";
import { BATCH_RULES, batchBody, batchResults, readItems } from "../batch.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { ALICE, batchExample, BOB, COLLECTION } from "../examples.ts";
import { none, noQuery } from "../schemas/params.ts";
import { transferBody } from "../schemas/transfers.ts";

export function transferNfts() {
  return defineEndpoint({
    method: "post",
    path: "/transfers/batch",
    summary: "Transfer up to 1,000 tokens with one call",
    name: "transferNfts",
    description: BATCH_RULES,
    examples: {
      bodies: {
        "Two tokens": {
          items: [
            { from_address: ALICE, to_address: BOB, contract_address: COLLECTION, token_id: 12 },
            { from_address: ALICE, to_address: BOB, contract_address: COLLECTION, token_id: 13 },
          ],
        },
      },
      answer: batchExample("token_busy", "token_id"),
    },
    scope: "transfer",
    params: none,
    query: noQuery,
    body: batchBody("Transfer"),
    response: batchResults,
    idempotent: true,
    batch: true,
    handle: async (deps, call, exchange) => {
      const items = await readItems(deps, call, exchange, transferBody);
      const { json, retryAfter } = await transfer(deps, call, items, batchAnswer);
      return new Verbatim(json, retryAfter);
    },
  });
}
