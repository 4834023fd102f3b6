import { ApiError } from "../domain/error-codes.ts";
import { findApiTokensByHash, type StoredToken } from "../store/apps/api-tokens.ts";
import { findConsoleSessionsByHash } from "../store/apps/console-sessions.ts";
import type { Database } from "../store/db/database.ts";
import type { Db, Trx } from "../store/db/sql.ts";
import { isLive } from "./console-session.ts";

/** What proves who calls: a token or the secret of a session, by its SHA-256, hex. */
export interface Credential {
  kind: "token" | "session";
  hash: string;
}

/** Whether a token is neither revoked nor expired. */
export function isValid(token: Pick<StoredToken, "revoked_at" | "expires_at">, now: number): boolean {
  return token.revoked_at === null && (token.expires_at ?? Infinity) > now;
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
  for (const token of tokens) if (token !== undefined && isValid(token, now)) valid.add(token.hash);
  for (const session of sessions) {
    if (session !== undefined && session.hash !== null && isLive(session, now)) valid.add(session.hash);
  }
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
