import { z } from "zod";

import { SCOPES } from "../../commands/api-tokens.ts";
import { type CodeRefusal, LINK_MINUTES, signIn } from "../../commands/console-session.ts";
import { hashOf } from "../../commands/credential.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { findConsoleSession, revokeConsoleSession } from "../../store/apps/console-sessions.ts";
import { newLink } from "../authenticate.ts";
import { clearSessionCookie, requireOwnPage, sessionSecretOf, setSessionCookie } from "../console-session.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { consoleSessionExample } from "../examples.ts";
import { presentSession } from "../present.ts";
import { time } from "../schemas/outputs.ts";

const REFUSALS: Record<CodeRefusal, string> = {
  unknown: "No link has this code.",
  used: "This link was used before. If that was not you, its session must be revoked: tell the operator.",
  expired: `This link is older than ${LINK_MINUTES.toString()} minutes.`,
  revoked: "This link was revoked.",
};

const sessionCode = z
  .strictObject({
    code: z
      .string()
      .min(1)
      .max(200)
      .describe("The code of the link that `npm run cli -- console` prints. It works once, within ten minutes."),
  })
  .meta({ id: "CreateSession" });

const consoleSession = z
  .object({
    session_id: z.string().describe("Id of the session, for `npm run cli -- console revoke`. It is not a secret."),
    kind: z.enum(["app", "operator"]).describe("`app`: the session is for one app. `operator`: it is for all apps."),
    app: z
      .object({
        app_id: z.string().describe("Id of the app."),
        name: z.string().describe("Name of the app."),
      })
      .nullable()
      .describe("The app of the session. null in the operator's session."),
    scopes: z.array(z.enum(SCOPES)).describe("What the session may do."),
    created_at: time.describe("When the session began."),
    expires_at: time.describe("When it ends."),
    chain_id: z.int().positive().describe("Id of the service's chain."),
    explorer_url: z.string().nullable().describe("Block explorer of the chain, for links. null: there is none."),
    public_url: z.string().describe("Public URL of the service."),
  })
  .meta({ id: "ConsoleSession", description: "A session of the console." });

const endedSession = z.object({}).meta({ id: "EndedSession" });

const createConsoleSession = defineServiceEndpoint({
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
  body: sessionCode,
  response: consoleSession,
  handle: async (deps, { body }, { request, response }) => {
    const { publicUrl } = deps.settings;
    requireOwnPage(request, publicUrl);
    const signedIn = await signIn(deps, body.code, sessionSecretOf(request, publicUrl));
    const shown = typeof signedIn === "string" ? undefined : await presentSession(deps, signedIn.session);
    if (typeof signedIn === "string" || shown === undefined) {
      const why = REFUSALS[typeof signedIn === "string" ? signedIn : "unknown"];
      const message = `${why} ${newLink(deps)}`;
      throw new ApiError("unauthorized", null, { message });
    }
    await deps.rates.countSession(signedIn.session, response);
    deps.rates.rememberValid(hashOf(signedIn.secret));
    setSessionCookie(response, publicUrl, signedIn.secret, signedIn.session.expires_at);
    return shown;
  },
});

const getConsoleSession = defineServiceEndpoint({
  method: "get",
  path: "/console/session",
  summary: "Show the session of the console",
  name: "getConsoleSession",
  examples: { answer: consoleSessionExample },
  scope: null,
  caller: "session",
  response: consoleSession,
  handle: async (deps, { session }) => {
    const found = session === null ? undefined : await findConsoleSession(deps.database.read, session.id);
    const shown = found === undefined ? undefined : await presentSession(deps, found);
    // The session was removed with its app after the call was authenticated.
    if (shown === undefined) throw new ApiError("unauthorized");
    return shown;
  },
});

const deleteConsoleSession = defineServiceEndpoint({
  method: "delete",
  path: "/console/session",
  summary: "Sign out of the console",
  name: "deleteConsoleSession",
  description: "Ends the session, also for calls and event streams of other tabs, and removes the cookie.",
  examples: { answer: {} },
  scope: null,
  caller: "session",
  response: endedSession,
  handle: async ({ database, settings }, { session }, { response }) => {
    if (session !== null) await database.write((trx) => revokeConsoleSession(trx, session.id, Date.now()));
    clearSessionCookie(response, settings.publicUrl);
    return {};
  },
});

export const SESSIONS = [createConsoleSession, getConsoleSession, deleteConsoleSession];
