import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { hashOfToken, issueToken } from "../../api/commands/api-tokens.ts";
import type { Quotas } from "../../api/domain/quota.ts";
import { createApp } from "../../api/operate/apps.ts";
import { replaceFile } from "../../api/shared/write-new-file.ts";
import { findApiTokensByHash } from "../../api/store/apps/api-tokens.ts";
import { findApp } from "../../api/store/apps/apps.ts";
import type { Database } from "../../api/store/db/database.ts";

const APP = "local";
const FILE = "token";

/**
 * The token of the app of `npm start`, from a file in the data folder that only this user can read. Creates what is missing:
 * the app, and a further token when the file has none that works.
 */
export async function localToken(database: Database, dataDir: string, quotas: Partial<Quotas>): Promise<string> {
  const file = join(dataDir, FILE);
  const kept = await readKept(file);
  const app = await findApp(database.read, APP);
  if (app !== undefined && kept !== null && (await works(database, kept, app.id))) return kept;
  const { token } =
    app === undefined
      ? await createApp({ database }, APP, quotas)
      : await issueToken({ database }, { appId: app.id, name: "npm start", scopes: null, expiresAt: null });
  await replaceFile(file, `${token}\n`, 0o600);
  return token;
}

async function readKept(file: string): Promise<string | null> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function works(database: Database, token: string, appId: string): Promise<boolean> {
  const [stored] = await findApiTokensByHash(database.read, [hashOfToken(token)]);
  return stored?.app_id === appId && stored.revoked_at === null && (stored.expires_at ?? Infinity) > Date.now();
}
