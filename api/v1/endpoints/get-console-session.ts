import { ApiError } from "../../domain/error-codes.ts";
import { findConsoleSession } from "../../store/apps/console-sessions.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { consoleSessionExample } from "../examples.ts";
import { presentSession } from "../present/session.ts";
import { none, noQuery } from "../schemas/params.ts";
import { consoleSession } from "../schemas/sessions.ts";

export function getConsoleSession() {
  return defineServiceEndpoint({
    method: "get",
    path: "/console/session",
    summary: "Show the session of the console",
    name: "getConsoleSession",
    examples: { answer: consoleSessionExample },
    scope: null,
    caller: "session",
    params: none,
    query: noQuery,
    response: consoleSession,
    handle: async (deps, { session }) => {
      const found = session === null ? undefined : await findConsoleSession(deps.database.read, session.id);
      const shown = found === undefined ? undefined : await presentSession(deps, found);
      // The session was removed with its app after the call was authenticated.
      if (shown === undefined) throw new ApiError("unauthorized");
      return shown;
    },
  });
}
