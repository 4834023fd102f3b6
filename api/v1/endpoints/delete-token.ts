import { revokeToken } from "../../commands/manage-tokens.ts";
import { defineEndpoint } from "../endpoint.ts";
import { revokedTokenExample } from "../examples.ts";
import { presentToken } from "../present/token.ts";
import { noQuery, tokenIdParams } from "../schemas/params.ts";
import { token } from "../schemas/tokens.ts";

export function deleteToken() {
  return defineEndpoint({
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
    query: noQuery,
    response: token,
    errors: ["not_found"],
    handle: async (deps, { appId, scopes, params }) =>
      presentToken(await revokeToken(deps, { appId, scopes }, params.token_id)),
  });
}
