import { pageOfApiTokens } from "../../store/apps/api-tokens.ts";
import { defineEndpoint } from "../endpoint.ts";
import { tokenExample } from "../examples.ts";
import { presentToken } from "../present/token.ts";
import { keysetQuery, nextKeyset, readKeyset } from "../schemas/keyset.ts";
import { none } from "../schemas/params.ts";
import { tokensPage } from "../schemas/tokens.ts";

export function listTokens() {
  return defineEndpoint({
    method: "get",
    path: "/tokens",
    summary: "List the app's tokens, newest first",
    name: "listTokens",
    description: "Also those that expired or were revoked.",
    examples: { answer: { tokens: [tokenExample], next: null } },
    scope: "read",
    caller: "session",
    params: none,
    query: keysetQuery,
    response: tokensPage,
    handle: async ({ database }, { appId, query }) => {
      const page = await pageOfApiTokens(database.read, appId, readKeyset(query, "tokens"));
      return { tokens: page.items.map(presentToken), next: nextKeyset(page, "tokens") };
    },
  });
}
