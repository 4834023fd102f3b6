import { defineEndpoint } from "../endpoint.ts";
import { heldNftExample, pageExample } from "../examples.ts";
import { heldNftsPage } from "../schemas/nfts.ts";
import { pageQuery } from "../schemas/pages.ts";
import { contractParams } from "../schemas/params.ts";
import { contentsPage } from "./contents-page.ts";

export function listContentsOfContract() {
  return defineEndpoint({
    method: "get",
    path: "/accounts/:address/:contract_address",
    summary: "List a wallet's tokens of one contract",
    name: "listContentsOfContract",
    description:
      "Works for any ERC721 or ERC1155 contract. If another party deployed it, the service follows it from this call on.",
    examples: { answer: { nfts: [heldNftExample], ...pageExample } },
    scope: "read",
    params: contractParams,
    query: pageQuery,
    response: heldNftsPage,
    errors: ["not_found", "contract_not_supported"],
    handle: (deps, { appId, params, query }) =>
      contentsPage(deps, appId, params.address, { contract: params.contract_address, tokenId: null }, query),
  });
}
