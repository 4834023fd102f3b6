import { createToken as create } from "../../commands/manage-tokens.ts";
import { defineEndpoint } from "../endpoint.ts";
import { newTokenExample } from "../examples.ts";
import { presentToken } from "../present/token.ts";
import { none, noQuery } from "../schemas/params.ts";
import { newToken, newTokenBody } from "../schemas/tokens.ts";

const DEFAULT_NAME = "console";

export function createToken() {
  return defineEndpoint({
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
    params: none,
    query: noQuery,
    body: newTokenBody,
    response: newToken,
    handle: async (deps, { appId, scopes, body }) => {
      const name = body.name ?? DEFAULT_NAME;
      const ratePerMinute = body.rate_limit_per_minute ?? null;
      const wish = { name, scopes: body.scopes, expiresInDays: body.expires_in_days ?? null, ratePerMinute };
      const issued = await create(deps, { appId, scopes }, wish);
      const row = {
        id: issued.id,
        name,
        scopes: [...issued.scopes],
        rate_limit_per_minute: ratePerMinute,
        created_at: issued.createdAt,
        expires_at: issued.expiresAt,
        revoked_at: null,
      };
      return { ...presentToken(row), token: issued.token };
    },
  });
}
