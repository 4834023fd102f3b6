import { validCredentials } from "../../commands/credential.ts";
import { findAppsById } from "../../store/apps/apps.ts";
import type { Db } from "../../store/db/sql.ts";
import type { EventStream } from "./event-stream.ts";

type Opened = Pick<EventStream, "appId" | "credential">;

/** Whether each stream may stay open: its token or session is valid, and its app exists. */
export async function stillValid(read: Db, streams: readonly Opened[], now: number): Promise<boolean[]> {
  const credentials = streams.map(({ credential }) => credential);
  const valid = await validCredentials(read, credentials, now);
  if (credentials.every(({ kind }) => kind === "token")) return credentials.map(({ hash }) => valid.has(hash));
  // The operator's session outlives an app that is removed. Tokens are removed with their app.
  const apps = await findAppsById(
    read,
    streams.map(({ appId }) => appId),
  );
  return credentials.map(({ hash }, index) => valid.has(hash) && apps[index] !== undefined);
}
