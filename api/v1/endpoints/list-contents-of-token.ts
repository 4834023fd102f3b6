import { defineEndpoint } from "../endpoint.ts";
import { heldNftExample, pageExample } from "../examples.ts";
import { contractNftsPage } from "../schemas/nfts.ts";
import { pageQuery } from "../schemas/pages.ts";
import { contractTokenParams } from "../schemas/params.ts";
import { contractContentsPage } from "./contents-page.ts";

export function listContentsOfToken() {
  return defineEndpoint({
    method: "get",
    path: "/accounts/:address/:contract_address/:token_id",
    summary: "Show a wallet's holding of one token",
    name: "listContentsOfToken",
    description:
      "The page is empty when the wallet does not hold the token. The contract is followed as in the call above.",
    examples: { answer: { nfts: [heldNftExample], ...pageExample, as_of_block: 21_000_000 } },
    scope: "read",
    params: contractTokenParams,
    query: pageQuery,
    response: contractNftsPage,
    errors: ["not_found", "contract_not_supported", "too_many_contracts"],
    handle: (deps, { appId, scopes, params, query }) => {
      const filter = { contract: params.contract_address, tokenId: params.token_id.toString() };
      return contractContentsPage(deps, { appId, scopes }, params.address, filter, query);
    },
  });
}
