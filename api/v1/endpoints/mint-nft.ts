import { mint } from "../../commands/mint.ts";
import type { Limits } from "../../config/limits.ts";
import { defineEndpoint, Verbatim } from "../endpoint.ts";
import { mintBody } from "../schemas/nfts.ts";
import { accepted } from "../schemas/outputs.ts";
import { none, noQuery } from "../schemas/params.ts";

export function mintNft(limits: Limits) {
  return defineEndpoint({
    method: "post",
    path: "/nfts",
    summary: "Mint a token, or more copies of one",
    scope: "mint",
    params: none,
    query: noQuery,
    body: mintBody(limits),
    response: accepted,
    idempotent: true,
    errors: [
      "collection_not_found",
      "wrong_collection_type",
      "wrong_hosting",
      "service_cannot_mint",
      "supply_exceeded",
      "token_already_exists",
      "token_not_found",
    ],
    handle: async (deps, call) => new Verbatim(await mint(deps, call, call.body)),
  });
}
