import { randomUUID } from "node:crypto";

import {
  beginConsoleSession,
  findConsoleLink,
  findConsoleSessionsByHash,
  insertConsoleLink,
  revokeConsoleSession,
  type StoredConsoleSession,
} from "../store/apps/console-sessions.ts";
import type { Database } from "../store/db/database.ts";
import { type Scope, SCOPES } from "./api-tokens.ts";
import { hashOf, looksLikeSecret, newSecret } from "./credential.ts";

/** How long a link can be used. */
export const LINK_MINUTES = 10;
/** How long a session lasts. */
export const SESSION_DAYS = 7;

export interface ConsoleLink {
  sessionId: string;
  url: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  scopes: readonly Scope[];
}

/**
 * Makes a link to the console. The code is in the fragment of the URL, which browsers do not send: no log of a proxy has it.
 * @param appId null: the operator's, for all apps. @param scopes null: every scope.
 */
export async function createConsoleLink(
  { database, publicUrl }: { database: Database; publicUrl: string },
  { appId, scopes }: { appId: string | null; scopes: readonly Scope[] | null },
): Promise<ConsoleLink> {
  const code = newSecret();
  const [id, now, given] = [randomUUID(), Date.now(), scopes ?? SCOPES];
  const expiresAt = now + LINK_MINUTES * 60_000;
  await database.write((trx) =>
    insertConsoleLink(trx, {
      id,
      app_id: appId,
      scopes: [...given],
      code_hash: hashOf(code),
      created_at: now,
      expires_at: expiresAt,
    }),
  );
  return { sessionId: id, url: `${publicUrl}/console#code=${code}`, expiresAt, scopes: given };
}

/** Why a code begins no session. */
export type CodeRefusal = "unknown" | "used" | "expired" | "revoked";

/**
 * Turns a code into a session. The secret is new at each sign-in, so nobody can know it before.
 * @param replaced secret of the session that the browser had before. It ends: its cookie is overwritten.
 */
export async function signIn(
  { database }: { database: Database },
  code: string,
  replaced: string | null,
): Promise<{ secret: string; session: StoredConsoleSession } | CodeRefusal> {
  if (!looksLikeSecret(code)) return "unknown";
  const codeHash = hashOf(code);
  // A wrong code must not cost a write.
  const link = await findConsoleLink(database.read, codeHash);
  if (link === undefined) return "unknown";
  const secret = newSecret();
  const session = await database.write(async (trx) => {
    const now = Date.now();
    const begun = await beginConsoleSession(trx, codeHash, {
      hash: hashOf(secret),
      now,
      expiresAt: now + SESSION_DAYS * 86_400_000,
    });
    if (begun !== undefined && replaced !== null) {
      const [old] = await findConsoleSessionsByHash(trx, [hashOf(replaced)]);
      if (old !== undefined) await revokeConsoleSession(trx, old.id, now);
    }
    return begun;
  });
  if (session !== undefined) return { secret, session };
  const now = await findConsoleLink(database.read, codeHash);
  if (now === undefined) return "unknown";
  if (now.hash !== null) return "used";
  return now.revoked_at === null ? "expired" : "revoked";
}
