import { defineEndpoint } from "../endpoint.ts";
import { heldNftExample, pageExample } from "../examples.ts";
import { heldNftsPage } from "../schemas/nfts.ts";
import { pageQuery } from "../schemas/pages.ts";
import { addressParams } from "../schemas/params.ts";
import { contentsPage } from "./contents-page.ts";

export function listContents() {
  return defineEndpoint({
    method: "get",
    path: "/accounts/:address",
    summary: "List the tokens in a wallet",
    name: "listContents",
    description:
      "Tokens of the service's collections, and of the contracts of others that the app follows: those that it named in a transfer, or in a call for a wallet's tokens with the scope `contracts`.",
    examples: { answer: { nfts: [heldNftExample], ...pageExample } },
    scope: "read",
    params: addressParams,
    query: pageQuery,
    response: heldNftsPage,
    errors: ["not_found"],
    handle: (deps, { appId, params, query }) => contentsPage(deps, appId, params.address, query),
  });
}
