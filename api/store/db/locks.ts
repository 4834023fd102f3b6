import { sql } from "kysely";

import { engineOf, type Trx } from "./engine.ts";
import { rowSet } from "./row-set.ts";

/*
 * Locks for checks that no single row stands for. They are held until the end of the transaction. SQLite has one writer and
 * needs none.
 *
 * Every transaction takes its locks in this order, so that two of them rarely wait for each other:
 * the ledger, apps, collections, tokens, holdings, gas budgets, requests, counters, sequences.
 *
 * A call only holds its app (`holdApps`), before all others. Only the app's removal and a change of its quotas wait for that. The
 * app is locked (`lockQuotas`) only when a quota is compared.
 */

/** Any number that no other program uses for an advisory lock of the same database. */
const LEDGER_LOCK = 7_215_604_319;

/**
 * One at a time: storing blocks, rolling back, reading contracts in the background, and changing what is followed. Each
 * of them depends on the checkpoint and on what the others store. Take it before anything is read.
 */
export async function lockLedger(trx: Trx): Promise<void> {
  if (engineOf(trx) === "postgres") await sql`select pg_advisory_xact_lock(${sql.lit(LEDGER_LOCK)})`.execute(trx);
}

/** Locks collections in the order of their addresses, so that reservations and metadata stay as they are read. */
export async function lockCollections(trx: Trx, addresses: Iterable<string>): Promise<void> {
  const rows = [...new Set(addresses)].map((address) => ({ address }));
  if (engineOf(trx) !== "postgres" || rows.length === 0) return;
  await sql`
    select address from collections where address in (select address from ${rowSet(trx, { address: "text" }, rows)} as input)
     order by address for update`.execute(trx);
}
