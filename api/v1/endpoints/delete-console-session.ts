import { revokeConsoleSession } from "../../store/apps/console-sessions.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { none, noQuery } from "../schemas/params.ts";
import { endedSession } from "../schemas/sessions.ts";
import { clearSessionCookie } from "../sessions/cookie.ts";

export function deleteConsoleSession() {
  return defineServiceEndpoint({
    method: "delete",
    path: "/console/session",
    summary: "Sign out of the console",
    name: "deleteConsoleSession",
    description: "Ends the session, also for calls and event streams of other tabs, and removes the cookie.",
    examples: { answer: {} },
    scope: null,
    caller: "session",
    params: none,
    query: noQuery,
    response: endedSession,
    handle: async ({ database, settings }, { session }, { response }) => {
      if (session !== null) await database.write((trx) => revokeConsoleSession(trx, session.id, Date.now()));
      clearSessionCookie(response, settings.publicUrl);
      return {};
    },
  });
}
