import { defineEndpoint } from "../endpoint.ts";
import { heldNftsPage } from "../schemas/nfts.ts";
import { pageQuery } from "../schemas/pages.ts";
import { addressParams } from "../schemas/params.ts";
import { contentsPage } from "./contents-page.ts";

export function listContents() {
  return defineEndpoint({
    method: "get",
    path: "/accounts/:address",
    summary: "List what a wallet holds",
    scope: "read",
    params: addressParams,
    query: pageQuery,
    response: heldNftsPage,
    errors: ["not_found"],
    handle: (deps, { appId, params, query }) => contentsPage(deps, appId, params.address, null, query),
  });
}
