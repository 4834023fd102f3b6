import { createHash, randomBytes } from "node:crypto";

import { ApiError } from "../domain/error-codes.ts";
import { findApiTokensByHash, type StoredToken } from "../store/apps/api-tokens.ts";
import { findConsoleSessionsByHash } from "../store/apps/console-sessions.ts";
import type { Database } from "../store/db/database.ts";
import type { Db, Trx } from "../store/db/sql.ts";

/** What proves who calls: a token or the secret of a session, by its SHA-256, hex. */
export interface Credential {
  kind: "token" | "session";
  hash: string;
}

/** 32 random bytes: a token after its prefix, the secret of a session, or the code of a link. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Whether a text has the format of a secret. Saves a database look-up if it has not. */
export function looksLikeSecret(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Stored instead of a token, secret or code. These have 256 random bits, so they need neither a salt nor a slow hash. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret, "utf8").digest("hex");
}

/** Whether a token, session or link is neither revoked nor expired. */
export function isValid(row: Pick<StoredToken, "revoked_at" | "expires_at">, now: number): boolean {
  return row.revoked_at === null && (row.expires_at ?? Infinity) > now;
}

/** @returns the hashes of those that are valid. One statement for all tokens, and one for all sessions if there are any. */
export async function validCredentials(
  db: Db,
  credentials: readonly Credential[],
  now: number,
): Promise<ReadonlySet<string>> {
  const hashes = (wanted: Credential["kind"]) => [
    ...new Set(credentials.flatMap(({ kind, hash }) => (kind === wanted ? [hash] : []))),
  ];
  const [ofTokens, ofSessions] = [hashes("token"), hashes("session")];
  const tokens = ofTokens.length === 0 ? [] : await findApiTokensByHash(db, ofTokens);
  const sessions = ofSessions.length === 0 ? [] : await findConsoleSessionsByHash(db, ofSessions);
  const valid = new Set<string>();
  for (const row of [...tokens, ...sessions]) if (row?.hash != null && isValid(row, now)) valid.add(row.hash);
  return valid;
}

/**
 * The database for the handler of a call. Each write checks in its own transaction that the caller's token or session is still
 * valid: a call may have waited since it was authenticated, for the rest of its body, for its turn or for a node.
 * @returns writes throw ApiError `unauthorized`
 */
export function databaseFor(database: Database, credential: Credential | null): Database {
  if (credential === null) return database;
  const checked = async <T>(trx: Trx, operation: (trx: Trx) => Promise<T>): Promise<T> => {
    const valid = await validCredentials(trx, [credential], Date.now());
    if (!valid.has(credential.hash)) throw new ApiError("unauthorized");
    return operation(trx);
  };
  return {
    ...database,
    write: (operation) => database.write((trx) => checked(trx, operation)),
    writeGroup: (operation) => database.writeGroup((trx) => checked(trx, operation)),
  };
}
