import { batchAnswer } from "../../commands/answer-form.ts";
import { mint } from "../../commands/mint.ts";
import type { Limits } from "../../config/limits.ts";
import { BATCH_RULES, batchBody, batchResults, readItems } from "../batch.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { ALICE, batchExample, BOB, COLLECTION } from "../examples.ts";
import { mintBody } from "../schemas/nfts.ts";
import { none, noQuery } from "../schemas/params.ts";

export function mintNfts(limits: Limits) {
  const item = mintBody(limits);
  return defineEndpoint({
    method: "post",
    path: "/nfts/batch",
    summary: "Mint up to 1,000 tokens with one call",
    name: "mintNfts",
    description: BATCH_RULES,
    examples: {
      bodies: {
        "Two tokens of a hosted ERC721 collection": {
          items: [
            { collection_address: COLLECTION, to_address: ALICE, name: "Cat {token_id}" },
            { collection_address: COLLECTION, to_address: BOB, name: "Cat {token_id}" },
          ],
        },
      },
      answer: batchExample("supply_exceeded", "collection_address"),
    },
    scope: "mint",
    params: none,
    query: noQuery,
    body: batchBody("Mint"),
    response: batchResults,
    idempotent: true,
    batch: true,
    handle: async (deps, call, exchange) => {
      const { json, retryAfter } = await mint(deps, call, await readItems(deps, call, exchange, item), batchAnswer);
      return new Verbatim(json, retryAfter);
    },
  });
}
