import { listWallets } from "../../store/apps/wallets.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageExample, walletExample } from "../examples.ts";
import { presentWallet } from "../present/wallet.ts";
import { accountsPage } from "../schemas/accounts.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { none } from "../schemas/params.ts";

export function listAccounts() {
  return defineEndpoint({
    method: "get",
    path: "/accounts",
    summary: "List the app's wallets",
    name: "listAccounts",
    examples: { answer: { wallets: [walletExample], ...pageExample } },
    scope: "read",
    params: none,
    query: pageQuery,
    response: accountsPage,
    handle: async ({ database }, { appId, query }) => {
      const page = await listWallets(database.read, appId, readPage(query, "wallets"));
      return pageAnswer(page, "wallets", "wallets", page.items.map(presentWallet));
    },
  });
}
