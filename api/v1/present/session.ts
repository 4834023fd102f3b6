import { isScope } from "../../commands/access-token.ts";
import type { StoredConsoleSession } from "../../store/apps/console-sessions.ts";
import type { HttpDeps } from "../deps.ts";
import { isoTime } from "./time.ts";

/** @returns undefined when the session's app was removed meanwhile. */
export async function presentSession(
  { chainId, lookUps, settings }: Pick<HttpDeps, "chainId" | "lookUps" | "settings">,
  session: StoredConsoleSession,
) {
  const app = session.app_id === null ? null : await lookUps.app(session.app_id);
  if (app === undefined) return undefined;
  return {
    session_id: session.id,
    kind: app === null ? ("operator" as const) : ("app" as const),
    app: app === null ? null : { app_id: app.id, name: app.name },
    scopes: session.scopes.filter(isScope),
    created_at: isoTime(session.signed_in_at ?? session.created_at),
    expires_at: isoTime(session.expires_at),
    chain_id: chainId,
    explorer_url: settings.explorerUrl,
    public_url: settings.publicUrl,
  };
}
