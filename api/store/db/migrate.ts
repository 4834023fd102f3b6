import { readFile } from "node:fs/promises";

import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";

import { holderIsGone } from "../../shared/lease-holder.ts";
import { codeOf, DatabaseError, NO_PRIVILEGE } from "./errors.ts";
import { isDue } from "./due.ts";
import { type Db, engineOf, type Trx } from "./sql.ts";
import * as initial from "./migrations/0001-initial.ts";
import * as consoleSessions from "./migrations/0002-v0.3.0-console-sessions.ts";
import * as requestsByTransaction from "./migrations/0003-v0.3.0-requests-by-transaction.ts";
import * as searchesOfContracts from "./migrations/0004-v0.3.0-searches-of-contracts.ts";
import * as unlockableContent from "./migrations/0005-v0.3.0-unlockable-content.ts";
import * as parkedRows from "./migrations/0006-v0.3.0-parked-rows.ts";
import * as boundValues from "./migrations/0007-v0.3.0-bound-values.ts";
import * as broadcastAnswers from "./migrations/0008-v0.3.0-broadcast-answers.ts";
import * as quotas from "./migrations/0009-v0.3.0-quotas.ts";
import * as limitsAndCollections from "./migrations/0010-v0.3.0-limits-and-collections.ts";
import * as frozenAndCopies from "./migrations/0011-v0.3.0-frozen-and-copies.ts";
import * as references from "./migrations/0012-v0.3.0-references.ts";
import * as searches from "./migrations/0013-v0.3.0-searches.ts";
import * as filters from "./migrations/0014-v0.3.0-filters.ts";
import * as answersAndNames from "./migrations/0015-v0.3.0-answers-and-names.ts";
import * as collectionStorage from "./migrations/0016-v0.3.0-collection-storage.ts";
import * as signedBurns from "./migrations/0017-v0.3.0-signed-burns.ts";
import * as digestsOfLogs from "./migrations/0018-v0.3.0-digests-of-logs.ts";
import * as verifications from "./migrations/0019-v0.3.0-verifications.ts";
import * as crashesRolesAndReasons from "./migrations/0020-v0.4.0-crashes-roles-and-reasons.ts";
import * as tokenEvents from "./migrations/0021-v0.4.0-token-events.ts";
import * as webhooks from "./migrations/0022-v0.4.0-webhooks.ts";
import * as partiesAndRetries from "./migrations/0023-v0.4.0-parties-and-retries.ts";
import * as withdrawals from "./migrations/0024-v0.4.0-withdrawals.ts";
import * as adoptedCollections from "./migrations/0025-v0.4.0-adopted-collections.ts";
import * as watchOnlyWallets from "./migrations/0026-v0.4.0-watch-only-wallets.ts";
import * as rescueReports from "./migrations/0027-v0.4.0-rescue-reports.ts";
import * as importedKeys from "./migrations/0029-v0.4.0-imported-keys.ts";
import * as mintingIntoAdopted from "./migrations/0030-v0.4.0-minting-into-adopted-contracts.ts";
import { lockMigrations } from "./postgres/driver.ts";
import { requireRestoreFinished } from "./meta.ts";

export type Migrations = Readonly<Record<string, Migration>>;

/**
 * All migrations in order. A released one never changes. The name of a new one contains the version that has it first:
 * `0002-v0.3.0-what-it-does`. An older version that meets the name then knows which version to ask for.
 */
export const MIGRATIONS: Migrations = {
  "0001-initial": initial,
  "0002-v0.3.0-console-sessions": consoleSessions,
  "0003-v0.3.0-requests-by-transaction": requestsByTransaction,
  "0004-v0.3.0-searches-of-contracts": searchesOfContracts,
  "0005-v0.3.0-unlockable-content": unlockableContent,
  "0006-v0.3.0-parked-rows": parkedRows,
  "0007-v0.3.0-bound-values": boundValues,
  "0008-v0.3.0-broadcast-answers": broadcastAnswers,
  "0009-v0.3.0-quotas": quotas,
  "0010-v0.3.0-limits-and-collections": limitsAndCollections,
  "0011-v0.3.0-frozen-and-copies": frozenAndCopies,
  "0012-v0.3.0-references": references,
  "0013-v0.3.0-searches": searches,
  "0014-v0.3.0-filters": filters,
  "0015-v0.3.0-answers-and-names": answersAndNames,
  "0016-v0.3.0-collection-storage": collectionStorage,
  "0017-v0.3.0-signed-burns": signedBurns,
  "0018-v0.3.0-digests-of-logs": digestsOfLogs,
  "0019-v0.3.0-verifications": verifications,
  "0020-v0.4.0-crashes-roles-and-reasons": crashesRolesAndReasons,
  "0021-v0.4.0-token-events": tokenEvents,
  "0022-v0.4.0-webhooks": webhooks,
  "0023-v0.4.0-parties-and-retries": partiesAndRetries,
  "0024-v0.4.0-withdrawals": withdrawals,
  "0025-v0.4.0-adopted-collections": adoptedCollections,
  "0026-v0.4.0-watch-only-wallets": watchOnlyWallets,
  "0027-v0.4.0-rescue-reports": rescueReports,
  "0029-v0.4.0-imported-keys": importedKeys,
  "0030-v0.4.0-minting-into-adopted-contracts": mintingIntoAdopted,
};

/** The migration after which processes of some roles are in a table of their own. */
const TABLES_OF_ROLES = "0020-v0.4.0-crashes-roles-and-reasons";
/** Longest time for which a process says that it runs, in milliseconds. A time further ahead is from a wrong clock. */
const LONGEST_PRESENCE = 3_600_000;

export class SchemaError extends DatabaseError {
  override readonly name = "SchemaError";
}

/**
 * Brings the schema up to date. Racing processes wait for each other (a write lock on SQLite, an advisory lock on
 * PostgreSQL).
 * @throws SchemaError when a newer version of Moneta has migrated the database, or when processes of an earlier version
 * still use it. Then nothing was changed.
 */
export async function migrate(db: Db, migrations = MIGRATIONS, now = Date.now()): Promise<void> {
  // One transaction for everything: racing processes check one after the other, and a crash leaves nothing half done.
  await db.transaction().execute(async (trx) => {
    if (engineOf(trx) === "postgres") await lockMigrations(trx);
    await requireRestoreFinished(trx);
    const applied = await appliedMigrations(trx);
    refuseUnknown(applied, migrations);
    if (applied.length === Object.keys(migrations).length) return;
    if (applied.length > 0) await refuseWhileInUse(trx, applied, now);
    const migrator = new Migrator({ db: trx, provider: { getMigrations: () => Promise.resolve(migrations) } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw new SchemaError(messageOf(error), { cause: error });
  });
}

/** For a process that runs. @throws SchemaError when a newer version of Moneta has migrated the database meanwhile. */
export async function requireKnownSchema(db: Db, migrations = MIGRATIONS): Promise<void> {
  refuseUnknown(await storedNames(db), migrations);
}

function refuseUnknown(applied: readonly string[], migrations: Migrations): void {
  const unknown = applied.filter((name) => !(name in migrations));
  const newest = unknown.at(-1);
  if (newest === undefined) return;
  const version = /^\d+-v(\d+\.\d+\.\d+)-/.exec(newest)?.[1];
  const [by, start] =
    version === undefined
      ? ["a newer version of Moneta", "that version"]
      : [`Moneta ${version} or newer`, `Moneta ${version} or newer`];
  throw new SchemaError(
    `The database was migrated by ${by} (${unknown.join(", ")}), which this version does not know. ` +
      `Start ${start}, or restore a backup that was made before the upgrade. Nothing was changed.`,
  );
}

/** A process of an earlier version would go on with tables that it does not know. */
async function refuseWhileInUse(trx: Trx, applied: readonly string[], now: number): Promise<void> {
  const rows = await trx.selectFrom("processes").select(["id", "until"]).execute();
  if (applied.includes(TABLES_OF_ROLES))
    rows.push(...(await trx.selectFrom("other_processes").select(["id", "until"]).execute()));
  const running = rows.filter(({ id, until }) => !isDue(until, now, LONGEST_PRESENCE) && !holderIsGone(id));
  if (running.length === 0) return;
  const names = [...new Set(running.map(({ id }) => nameOf(id)))].sort();
  throw new SchemaError(
    `The tables must be updated, but an earlier version of Moneta still uses the database (${names.join(", ")}). ` +
      "Stop all processes of the service, then start this version again. A process that was killed on another machine counts " +
      "until its LEASE_SECONDS are over. Nothing was changed.",
  );
}

/** @param holder see `newLeaseHolder`. */
function nameOf(holder: string): string {
  const [host = "", , pid = "?"] = holder.split("/");
  return `process ${pid} on ${decodeURIComponent(host)}`;
}

/** Those of the migrations that this version does not have: a newer one made them. */
export function unknownMigrations(applied: readonly string[]): string[] {
  return applied.filter((name) => !(name in MIGRATIONS));
}

function messageOf(error: unknown): string {
  const message = `The database could not be migrated: ${error instanceof Error ? error.message : "unknown"}`;
  return codeOf(error) === NO_PRIVILEGE
    ? `${message}. Make the user of DATABASE_URL the owner of the database, or run: grant create, usage on schema public to the user.`
    : message;
}

/** The names of the migrations that the database has, in order. */
export async function appliedMigrations(db: Db): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  return tables.some((table) => table.name === "kysely_migration") ? storedNames(db) : [];
}

async function storedNames(db: Db): Promise<string[]> {
  const rows = await db
    .$extendTables<{ kysely_migration: { name: string } }>()
    .selectFrom("kysely_migration")
    .select("name")
    .orderBy("name")
    .execute();
  return rows.map((row) => row.name);
}

/** The roles that `grants.sql` knows. */
const ROLES = ["moneta_service", "moneta_relayer", "moneta_media", "moneta_ipfs"];
const GRANTS = new URL("grants.sql", import.meta.url);

/**
 * PostgreSQL: gives each role of `grants.sql` that exists its rights, and no others.
 * @returns the roles. SQLite has none.
 */
export async function applyGrants(trx: Trx): Promise<string[]> {
  if (engineOf(trx) !== "postgres") return [];
  const { rows } = await sql<{ rolname: string }>`
    select rolname from pg_roles where rolname in (${sql.join(ROLES)}) order by rolname`.execute(trx);
  if (rows.length > 0) await sql.raw(await readFile(GRANTS, "utf8")).execute(trx);
  return rows.map(({ rolname }) => rolname);
}
