import { randomBytes } from "node:crypto";

import { sql } from "kysely";

import type { Database } from "../../api/store/db/database.ts";
import { TEST_ENGINE } from "./engine.ts";

/**
 * Makes the database refuse one row: every write that meets the condition throws, as a bug in the code for such rows would.
 * @param when SQL over `new`, or over `old` of a deletion.
 * @returns lets the row pass again.
 */
export async function poison(
  database: Database,
  on: { table: string; event: "insert" | "update" | "delete"; when: string },
): Promise<() => Promise<void>> {
  const name = `poison_${randomBytes(6).toString("hex")}`;
  const run = (text: string) => database.write((trx) => sql.raw(text).execute(trx));
  const head = `create trigger ${name} before ${on.event} on ${on.table}`;
  if (TEST_ENGINE === "sqlite") {
    await run(`${head} when ${on.when} begin select raise(abort, 'poison'); end`);
    return async () => {
      await run(`drop trigger ${name}`);
    };
  }
  await run(`create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'poison'; end $$`);
  await run(`${head} for each row when (${on.when}) execute function ${name}()`);
  return async () => {
    await run(`drop function ${name}() cascade`);
  };
}

/** The parked rows of a kind, by their ids. */
export async function parkedIds(database: Database, kind: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from parked_rows where kind = ${kind} order by id`.execute(database.read);
  return rows.map(({ id }) => id);
}
