import { defineEndpoint } from "../endpoint.ts";
import { heldNftExample, pageExample } from "../examples.ts";
import { contractNftsPage } from "../schemas/nfts.ts";
import { pageQuery } from "../schemas/pages.ts";
import { contractParams } from "../schemas/params.ts";
import { contractContentsPage } from "./contents-page.ts";

export function listContentsOfContract() {
  return defineEndpoint({
    method: "get",
    path: "/accounts/:address/:contract_address",
    summary: "List a wallet's tokens of one contract",
    name: "listContentsOfContract",
    description:
      "Works for any ERC721 or ERC1155 contract. If another party deployed it, a token with the scope `contracts` makes the app follow it from this call on. The call itself reads only the database: the chain is read in the background, and `as_of_block` says as of which block the list is complete. Without the scope the call answers what is stored.",
    examples: { answer: { nfts: [heldNftExample], ...pageExample, as_of_block: 21_000_000 } },
    scope: "read",
    params: contractParams,
    query: pageQuery,
    response: contractNftsPage,
    errors: ["not_found", "contract_not_supported", "too_many_contracts"],
    handle: (deps, { appId, scopes, params, query }) =>
      contractContentsPage(
        deps,
        { appId, scopes },
        params.address,
        { contract: params.contract_address, tokenId: null },
        query,
      ),
  });
}
