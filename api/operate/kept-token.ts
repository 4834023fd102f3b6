import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { issueToken } from "../commands/api-tokens.ts";
import { hashOf, isValid } from "../commands/credential.ts";
import type { Quotas } from "../domain/quota.ts";
import { createApp } from "./apps.ts";
import { replaceFile } from "../shared/write-new-file.ts";
import { findApiTokensByHash } from "../store/apps/api-tokens.ts";
import { findApp } from "../store/apps/apps.ts";
import type { Database } from "../store/db/database.ts";

const FILE = "token";

interface KeptIn {
  dataDir: string;
  /** Name of the app. */
  app: string;
  /** Name of a further token. */
  name: string;
  /** What the app gets if it is created. */
  quotas: Partial<Quotas>;
}

/**
 * A token of the app, from a file in the data folder that only this user can read. Creates what is missing: the app, and a
 * further token when the file has none that works.
 */
export async function keptToken(database: Database, { dataDir, app: appName, name, quotas }: KeptIn): Promise<string> {
  const file = join(dataDir, FILE);
  const kept = await readKept(file);
  const app = await findApp(database.read, appName);
  if (app !== undefined && kept !== null && (await works(database, kept, app.id))) return kept;
  const { token } =
    app === undefined
      ? await createApp({ database }, appName, quotas)
      : await issueToken({ database }, { appId: app.id, name, scopes: null, expiresAt: null });
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
  const [stored] = await findApiTokensByHash(database.read, [hashOf(token)]);
  return stored?.app_id === appId && isValid(stored, Date.now());
}
