import { sql } from "kysely";

import { type Db, rowSet, type Trx } from "../db/sql.ts";
import type { ConsoleSessionRow } from "../db/schema.ts";

/** A link or a session, with its scopes parsed. */
export interface StoredConsoleSession extends Omit<ConsoleSessionRow, "scopes"> {
  scopes: string[];
}

/** A session with the name of its app; null for the operator's. */
export interface ListedConsoleSession extends StoredConsoleSession {
  app_name: string | null;
}

type NewLink = Pick<StoredConsoleSession, "id" | "app_id" | "scopes" | "code_hash" | "created_at" | "expires_at">;

function parsed<R extends ConsoleSessionRow>(row: R): Omit<R, "scopes"> & { scopes: string[] } {
  return { ...row, scopes: JSON.parse(row.scopes) as string[] };
}

/** Stores a link that nobody has used yet. */
export async function insertConsoleLink(trx: Trx, link: NewLink): Promise<void> {
  await trx
    .insertInto("console_sessions")
    .values({ ...link, scopes: JSON.stringify(link.scopes) })
    .execute();
}

/**
 * Turns a link into a session. It is one statement, so of two calls with the same code only one gets the session.
 * @returns undefined when the link was used before, is too old, was revoked, or does not exist.
 */
export async function beginConsoleSession(
  trx: Trx,
  codeHash: string,
  session: { hash: string; now: number; expiresAt: number },
): Promise<StoredConsoleSession | undefined> {
  const { hash, now, expiresAt } = session;
  const row = await trx
    .updateTable("console_sessions")
    .set({ hash, signed_in_at: now, used_at: now, expires_at: expiresAt })
    .where("code_hash", "=", codeHash)
    .where("hash", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
  return row && parsed(row);
}

/** The link with a code, or the session that it became. */
export async function findConsoleLink(db: Db, codeHash: string): Promise<StoredConsoleSession | undefined> {
  const row = await db.selectFrom("console_sessions").selectAll().where("code_hash", "=", codeHash).executeTakeFirst();
  return row && parsed(row);
}

/**
 * @param hashes SHA-256 of the sessions' secrets, hex.
 * @returns the sessions in the order of the hashes.
 */
export async function findConsoleSessionsByHash(
  db: Db,
  hashes: readonly string[],
): Promise<(StoredConsoleSession | undefined)[]> {
  const wanted = [...new Set(hashes)].map((hash) => ({ hash }));
  const { rows } = await sql<ConsoleSessionRow & { hash: string }>`
    select console_sessions.* from ${rowSet(db, { hash: "text" }, wanted)} as input
      join console_sessions on console_sessions.hash = input.hash`.execute(db);
  const found = new Map(rows.map((row) => [row.hash, parsed(row)]));
  return hashes.map((hash) => found.get(hash));
}

export async function findConsoleSession(db: Db, id: string): Promise<StoredConsoleSession | undefined> {
  const row = await db.selectFrom("console_sessions").selectAll().where("id", "=", id).executeTakeFirst();
  return row && parsed(row);
}

/** Links and sessions, newest first. */
export async function listConsoleSessions(db: Db, limit: number): Promise<ListedConsoleSession[]> {
  const rows = await db
    .selectFrom("console_sessions")
    .leftJoin("apps", "apps.id", "console_sessions.app_id")
    .selectAll("console_sessions")
    .select("apps.name as app_name")
    .orderBy("console_sessions.created_at", "desc")
    .orderBy("console_sessions.id", "desc")
    .limit(limit)
    .execute();
  return rows.map(parsed);
}

/** Remembers that a session is used. @param before writes nothing if it was used since then. */
export async function touchConsoleSession(trx: Trx, id: string, now: number, before: number): Promise<void> {
  await trx
    .updateTable("console_sessions")
    .set({ used_at: now })
    .where("id", "=", id)
    .where("used_at", "<", before)
    .execute();
}

/** Revokes a link or session. One that is revoked already keeps its first revocation time. */
export async function revokeConsoleSession(trx: Trx, id: string, now: number): Promise<void> {
  await trx
    .updateTable("console_sessions")
    .set({ revoked_at: now })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .execute();
}

/** Revokes every link and session that still works. @returns how many there were. */
export async function revokeAllConsoleSessions(trx: Trx, now: number): Promise<number> {
  const updated = await trx
    .updateTable("console_sessions")
    .set({ revoked_at: now })
    .where("expires_at", ">", now)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return Number(updated.numUpdatedRows);
}
