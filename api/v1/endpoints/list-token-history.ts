import { listTokenHistory as list } from "../../store/listings/history.ts";
import { findMintedNft } from "../../store/listings/nfts.ts";
import { defineEndpoint } from "../endpoint.ts";
import { historyExample, pageExample } from "../examples.ts";
import { presentHistoryEntry } from "../present/history.ts";
import { found } from "../present/not-found.ts";
import { historyPage } from "../schemas/history.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { tokenParams } from "../schemas/params.ts";

export function listTokenHistory() {
  return defineEndpoint({
    method: "get",
    path: "/collections/:address/:token_id/history",
    summary: "List the history of a token, newest first",
    name: "listTokenHistory",
    description: "Includes transfers made outside the service: their `request_id` is null.",
    examples: { answer: { history: [historyExample], ...pageExample } },
    scope: "read",
    params: tokenParams,
    query: pageQuery,
    response: historyPage,
    errors: ["not_found"],
    handle: async ({ database, lookUps }, { appId, params, query }) => {
      const collection = found(await lookUps.collection(appId, params.address));
      const nft = found(await findMintedNft(database.read, collection.address, params.token_id.toString()));
      const token = { contract: nft.contract, tokenId: nft.token_id };
      const page = await list(database.read, appId, token, readPage(query, "token_history"));
      return pageAnswer(page, "token_history", "history", page.items.map(presentHistoryEntry));
    },
  });
}
