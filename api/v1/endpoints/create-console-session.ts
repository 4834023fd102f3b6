import { type CodeRefusal, hashOfSecret, LINK_MINUTES, signIn } from "../../commands/console-session.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { consoleSessionExample } from "../examples.ts";
import { presentSession } from "../present/session.ts";
import { none, noQuery } from "../schemas/params.ts";
import { consoleSession, sessionCode } from "../schemas/sessions.ts";
import { sessionSecretOf, setSessionCookie } from "../sessions/cookie.ts";
import { requireOwnPage } from "../sessions/own-page.ts";

const REFUSALS: Record<CodeRefusal, string> = {
  unknown: "No link has this code.",
  used: "This link was used before. If that was not you, revoke the session with `npm run cli -- console revoke`.",
  expired: `This link is older than ${LINK_MINUTES.toString()} minutes.`,
  revoked: "This link was revoked.",
};

export function createConsoleSession() {
  return defineServiceEndpoint({
    method: "post",
    path: "/console/session",
    summary: "Sign in to the console with the code of a link",
    name: "createConsoleSession",
    description:
      "Needs no token, but the headers `X-Moneta-Console: 1` and an `Origin` of the service itself. A code works once, within ten minutes. The answer sets the cookie of a new session (`HttpOnly`, `SameSite=Strict`, with TLS also `Secure`), which lasts seven days. A session that the browser had before ends.",
    examples: {
      bodies: { "Sign in": { code: "kJ8s0Zb1nV4yQ2mT7pXc9LwRfG5hDuEaB3oNiKs6vYe" } },
      answer: consoleSessionExample,
    },
    scope: null,
    caller: "public",
    params: none,
    query: noQuery,
    body: sessionCode,
    response: consoleSession,
    handle: async (deps, { body }, { request, response }) => {
      const { publicUrl } = deps.settings;
      requireOwnPage(request, publicUrl);
      const signedIn = await signIn(deps, body.code, sessionSecretOf(request, publicUrl));
      const shown = typeof signedIn === "string" ? undefined : await presentSession(deps, signedIn.session);
      if (typeof signedIn === "string" || shown === undefined) {
        const why = REFUSALS[typeof signedIn === "string" ? signedIn : "unknown"];
        const message = `${why} Make a new link with \`npm run cli -- console\`.`;
        throw new ApiError("unauthorized", null, { message });
      }
      await deps.rates.countSession(signedIn.session, response);
      deps.rates.rememberValid(hashOfSecret(signedIn.secret));
      setSessionCookie(response, publicUrl, signedIn.secret, signedIn.session.expires_at);
      return shown;
    },
  });
}
