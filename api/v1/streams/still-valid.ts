import { isLive } from "../../commands/console-session.ts";
import { findApiTokensByHash } from "../../store/apps/api-tokens.ts";
import { findAppsById } from "../../store/apps/apps.ts";
import { findConsoleSessionsByHash } from "../../store/apps/console-sessions.ts";
import type { Db } from "../../store/db/engine.ts";
import { type Credential, isValid } from "../authenticate.ts";
import type { EventStream } from "./event-stream.ts";

type Opened = Pick<EventStream, "appId" | "credential">;

/** Whether each stream may stay open: its token or session is valid, and its app exists. */
export async function stillValid(read: Db, streams: readonly Opened[], now: number): Promise<boolean[]> {
  const hashes = (kind: Credential["kind"]) => [
    ...new Set(streams.flatMap(({ credential }) => (credential.kind === kind ? [credential.hash] : []))),
  ];
  const [tokens, sessions] = [hashes("token"), hashes("session")];
  const valid = { token: new Set<string>(), session: new Set<string>() };
  if (tokens.length > 0) {
    for (const row of await findApiTokensByHash(read, tokens)) {
      if (row !== undefined && isValid(row, now)) valid.token.add(row.hash);
    }
  }
  if (sessions.length === 0) return streams.map(({ credential }) => valid.token.has(credential.hash));
  for (const row of await findConsoleSessionsByHash(read, sessions)) {
    if (row !== undefined && row.hash !== null && isLive(row, now)) valid.session.add(row.hash);
  }
  // The operator's session outlives an app that is removed. Tokens are removed with their app.
  const apps = await findAppsById(
    read,
    streams.map(({ appId }) => appId),
  );
  return streams.map(
    ({ credential }, index) => valid[credential.kind].has(credential.hash) && apps[index] !== undefined,
  );
}
