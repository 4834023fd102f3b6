import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";

import { plural } from "../../api/shared/text.ts";
import { LOCAL_CHAIN_ID } from "../../api/chain/local-contracts.ts";
import { STATE_FILE } from "./kept-state.ts";
import { messageOf, Problem } from "./problem.ts";

const DATABASE = "moneta.sqlite";
/** The database of the next chain. It has this name only when it is complete. */
const NEXT = "next.sqlite";
/** SQLite's companion files. Without its `-wal` a database that was not closed lacks the last writes. */
const COMPANIONS = ["-wal", "-shm"];
/** A database that belongs to no chain of this folder any more. */
const ASIDE = /^moneta\.(.+)\.sqlite(-wal|-shm)?$/;

/** What belongs to no chain. All other tables are emptied, those of later versions included. */
const KEPT_TABLES = [
  ...["apps", "api_tokens", "console_sessions", "wallets", "webhooks", "meta", "counters"],
  ...["media", "app_media", "media_store_lock", "media_blocks", "media_bytes", "pins", "announcements"],
];
/**
 * `wallets_key` names the seed: a user keeps the address. Of the counters, totals of kept rows stay, and the positions of the
 * feeds: a reader of events continues after the newest that it has seen.
 */
const FORGET = `
  delete from meta where key not in ('wallets_key', 'media_store', 'unbound_values');
  delete from counters where not (key like 'wallets:%' or key like 'media-bytes:%' or key like 'events:%');
`;

export function hasDatabase(dataDir: string): boolean {
  return existsSync(join(dataDir, DATABASE));
}

/** `npm start` renames databases of chains that are gone. That of another chain is an installation's. @throws Problem */
export function requireLocalDatabase(dataDir: string): void {
  const file = join(dataDir, DATABASE);
  if (!existsSync(file)) return;
  let chain: unknown;
  try {
    chain = using(file, (database) => database.prepare("select value from meta where key = 'chain_id'").pluck().get());
  } catch {
    // What cannot be read is reported where it is used.
    return;
  }
  if (typeof chain === "string" && chain !== LOCAL_CHAIN_ID.toString())
    throw new Problem(
      `The database ${file} belongs to chain ${chain}, not to a local chain. Nothing was changed. Use another folder: DATA_DIR=data/local npm start`,
    );
}

/**
 * Renames the database of an earlier start and the state of its chain, because they do not fit together or a new chain begins.
 * Deletes nothing. A crash in between leaves something that the next call completes.
 * @returns the new path of the database, or null when there was none.
 */
export function setDatabaseAside(dataDir: string, now: Date): string | null {
  const [database, state] = [join(dataDir, DATABASE), join(dataDir, STATE_FILE)];
  const time = unfinished(dataDir) ?? now.toISOString().replaceAll(":", "-");
  if (existsSync(state)) renameSync(state, join(dataDir, `moneta.${time}.${STATE_FILE}`));
  if (!existsSync(database)) return null;
  const aside = join(dataDir, `moneta.${time}.sqlite`);
  for (const companion of COMPANIONS) {
    if (existsSync(database + companion)) renameSync(database + companion, aside + companion);
  }
  renameSync(database, aside);
  return aside;
}

/** The time in the names of companion files whose database was not renamed. */
function unfinished(dataDir: string): string | null {
  const names = readdirSync(dataDir).map((name) => ASIDE.exec(name));
  const whole = new Set(names.flatMap((match) => (match?.[2] === undefined ? (match?.[1] ?? []) : [])));
  return names.find((match) => match?.[2] !== undefined && !whole.has(match[1] ?? ""))?.[1] ?? null;
}

/**
 * Copies the database without what the old chain had: it keeps apps with their quotas, API tokens, sessions, webhooks with their
 * secrets, users with the addresses of their wallets, and hosted files. Requests, events and deliveries are left out, so nothing
 * of the old chain is sent or delivered again.
 * @returns what is kept and what is gone, for people; null: there is no database. @throws Problem
 */
export function keepApps(dataDir: string): string | null {
  const [file, next] = [join(dataDir, DATABASE), join(dataDir, NEXT)];
  if (!existsSync(file)) return null;
  try {
    const gone = using(file, countGone);
    if (gone === null) return null;
    // A start that was interrupted has made it, and may have renamed a part of the database.
    if (!existsSync(next)) copyKept(file, next);
    return `Kept: apps, API tokens, webhooks, users with their addresses, quotas and hosted files. Gone with the old chain: ${gone}.`;
  } catch (error) {
    const hint = "Nothing was changed. To begin anew, and rename the database: npm start -- --fresh";
    throw new Problem(`The database ${file} cannot be read: ${messageOf(error)}.\n${hint}`, { cause: error });
  }
}

/** @returns null when there is no app that could be kept: a start was interrupted before it created one. */
function countGone(old: BetterSqlite3.Database): string | null {
  const count = (table: string) => Number(old.prepare(`select count(*) from ${table}`).pluck().get());
  const hasTables = old.prepare("select 1 from sqlite_master where name = 'apps'").get() !== undefined;
  if (!hasTables || count("apps") === 0) return null;
  const [collections, tokens, requests] = [count("collections"), count("nfts"), count("requests")];
  return `${plural(collections, "collection")}, ${plural(tokens, "token")} and ${plural(requests, "request")}`;
}

function copyKept(file: string, next: string): void {
  const draft = `${next}.new`;
  rmSync(draft, { force: true });
  using(file, (old) => old.prepare("vacuum into ?").run(draft), { readonly: false });
  using(draft, forgetChain, { readonly: false });
  renameSync(draft, next);
}

function forgetChain(copy: BetterSqlite3.Database): void {
  copy.pragma("foreign_keys = off");
  const tables = copy.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like 'kysely%'",
  );
  copy.transaction(() => {
    for (const table of tables.pluck().all() as string[]) {
      if (!KEPT_TABLES.includes(table)) copy.exec(`delete from "${table}"`);
    }
    copy.exec(FORGET);
    // Versions before 0.4.0 do not have the column.
    const delegates = copy.prepare("select 1 from pragma_table_info('wallets') where name = 'delegated'").get();
    if (delegates !== undefined) copy.exec("update wallets set delegated = 0");
  })();
}

function using<T>(file: string, use: (database: BetterSqlite3.Database) => T, { readonly = true } = {}): T {
  const database = new BetterSqlite3(file, { readonly });
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** Gives the copy its name, once the old database has another. After a crash in between, the next start does it. */
export function useKeptApps(dataDir: string): void {
  const next = join(dataDir, NEXT);
  if (existsSync(next) && !hasDatabase(dataDir)) renameSync(next, join(dataDir, DATABASE));
}

/** The old database goes on, or everything begins anew. */
export function dropKeptApps(dataDir: string): void {
  rmSync(join(dataDir, NEXT), { force: true });
}
