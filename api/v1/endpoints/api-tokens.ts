import { createApiToken, revokeToken } from "../../commands/api-tokens.ts";
import { pageOfApiTokens } from "../../store/apps/api-tokens.ts";
import { defineEndpoint } from "../endpoint.ts";
import { newTokenExample, revokedTokenExample, tokenExample } from "../examples.ts";
import { presentApiToken } from "../present.ts";
import { keysetQuery, nextKeyset, readKeyset } from "../schemas/keyset.ts";
import { tokenIdParams } from "../schemas/params.ts";
import { apiToken, apiTokensPage, newApiToken, newApiTokenBody } from "../schemas/api-tokens.ts";

const DEFAULT_NAME = "console";

const createToken = defineEndpoint({
  method: "post",
  path: "/tokens",
  summary: "Create a token for the app",
  name: "createToken",
  description:
    "The answer shows the token once. The session must itself have every scope of the token. The token works until it expires or is revoked, also after the session has ended.",
  examples: {
    bodies: {
      "A token that only reads": { scopes: ["read"] },
      "A token that mints at most once a second, for three months": {
        scopes: ["read", "mint"],
        expires_in_days: 90,
        rate_limit_per_minute: 60,
        name: "shop",
      },
    },
    answer: newTokenExample,
  },
  scope: null,
  caller: "session",
  errors: ["quota_exceeded"],
  body: newApiTokenBody,
  response: newApiToken,
  handle: async (deps, { appId, scopes, body }) => {
    const name = body.name ?? DEFAULT_NAME;
    const ratePerMinute = body.rate_limit_per_minute ?? null;
    const wish = { name, scopes: body.scopes, expiresInDays: body.expires_in_days ?? null, ratePerMinute };
    const issued = await createApiToken(deps, { appId, scopes }, wish);
    const row = {
      id: issued.id,
      name,
      scopes: [...issued.scopes],
      rate_limit_per_minute: ratePerMinute,
      created_at: issued.createdAt,
      expires_at: issued.expiresAt,
      revoked_at: null,
    };
    return { ...presentApiToken(row), token: issued.token };
  },
});

const listTokens = defineEndpoint({
  method: "get",
  path: "/tokens",
  summary: "List the app's tokens, newest first",
  name: "listTokens",
  description: "Also those that expired or were revoked.",
  examples: { answer: { tokens: [tokenExample], next: null } },
  scope: "read",
  caller: "session",
  query: keysetQuery,
  response: apiTokensPage,
  handle: async ({ database }, { appId, query }) => {
    const page = await pageOfApiTokens(database.read, appId, readKeyset(query, "tokens"));
    return { tokens: page.items.map(presentApiToken), next: nextKeyset(page, "tokens") };
  },
});

const deleteToken = defineEndpoint({
  method: "delete",
  path: "/tokens/:token_id",
  summary: "Revoke a token of the app",
  name: "deleteToken",
  description:
    "The token stops working at once. It stays in the list, with `revoked_at`. The session must itself have every scope of the token. No token is protected, not even the last one: the operator can always create another.",
  examples: { answer: revokedTokenExample },
  scope: null,
  caller: "session",
  params: tokenIdParams,
  response: apiToken,
  errors: ["not_found"],
  handle: async (deps, { appId, scopes, params }) =>
    presentApiToken(await revokeToken(deps, { appId, scopes }, params.token_id)),
});

export const TOKENS = [listTokens, createToken, deleteToken];
