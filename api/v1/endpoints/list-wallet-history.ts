import { listWalletHistory as list } from "../../store/listings/history.ts";
import { defineEndpoint } from "../endpoint.ts";
import { historyExample, pageExample } from "../examples.ts";
import { presentHistoryEntry } from "../present/history.ts";
import { found } from "../present/not-found.ts";
import { historyPage } from "../schemas/history.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { addressParams } from "../schemas/params.ts";

export function listWalletHistory() {
  return defineEndpoint({
    method: "get",
    path: "/accounts/:address/history",
    summary: "List the history of a wallet, newest first",
    name: "listWalletHistory",
    description: "Includes transfers made outside the service: their `request_id` is null.",
    examples: { answer: { history: [historyExample], ...pageExample } },
    scope: "read",
    params: addressParams,
    query: pageQuery,
    response: historyPage,
    errors: ["not_found"],
    handle: async ({ database, lookUps }, { appId, params, query }) => {
      const wallet = found(await lookUps.wallet(appId, params.address));
      const page = await list(database.read, appId, wallet.address, readPage(query, "wallet_history"));
      return pageAnswer(page, "wallet_history", "history", page.items.map(presentHistoryEntry));
    },
  });
}
