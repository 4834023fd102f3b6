import { DatabaseError } from "../db/errors.ts";
import type { Db, Trx } from "../db/sql.ts";
import { appliedMigrations } from "../db/migrate.ts";
import { continueRowNumbers, countRows, lastRowNumber, readTables, type TableShape } from "./tables.ts";
import { insertRows, readPages, TableSum } from "./rows.ts";

/** One table that was copied. */
export interface MovedTable {
  table: string;
  rows: number;
  /** SHA-256 over all its values in the order of the key, hex: the same in both databases. */
  checksum: string;
}

/** Says how far the copy is. `checking`: the rows are there, and are being read again. */
export type MoveProgress = (step: { table: string; checking: boolean; rows: number; total: number }) => void;

/** Thrown when the databases do not fit together, or a copy differs from its source. Nothing was changed. */
export class MoveError extends DatabaseError {
  override readonly name = "MoveError";
}

/**
 * Copies every row of one database into another, empty one, and compares both before the commit.
 * @param source nobody may write to it meanwhile: see `openForMove`.
 * @param target the transaction that gets everything. If anything fails, nothing of it stays.
 * @throws MoveError
 */
export async function moveRows(source: Db, target: Trx, report: MoveProgress): Promise<MovedTable[]> {
  const tables = await tablesToMove(source, target);
  const totals = new Map<string, number>();
  for (const { name } of tables) totals.set(name, await countRows(source, name));
  const moved: MovedTable[] = [];
  for (const table of tables) {
    const total = totals.get(table.name) ?? 0;
    const read = new TableSum(table);
    for await (const rows of readPages(source, table)) {
      await insertRows(target, table, rows);
      read.add(rows);
      report({ table: table.name, checking: false, rows: read.rows, total });
    }
    await continueRowNumbers(target, table, await lastRowNumber(source, table));
    const checksum = read.digest();
    await requireSame(target, table, { rows: read.rows, checksum, total }, report);
    moved.push({ table: table.name, rows: read.rows, checksum });
  }
  return moved;
}

async function tablesToMove(source: Db, target: Trx): Promise<TableShape[]> {
  const [applied, expected] = [await appliedMigrations(source), await appliedMigrations(target)];
  if (applied.join() !== expected.join()) {
    throw new MoveError(
      `The databases have different schema versions (${applied.at(-1) ?? "none"} and ${expected.at(-1) ?? "none"}). ` +
        "Start the service of this version with the old database once: it brings its schema up to date. Then move again.",
    );
  }
  const [tables, known] = [await readTables(source), await readTables(target)];
  const shape = ({ name, columns }: TableShape) => `${name}(${columns.join()})`;
  if (tables.map(shape).sort().join() !== known.map(shape).sort().join()) {
    throw new MoveError("The databases have different tables, although both say the same schema version.");
  }
  for (const { name } of known) {
    if ((await countRows(target, name)) > 0) {
      throw new MoveError(
        `The new database is not empty: its table ${name} has rows. Move into an empty database, so that nothing is mixed or ` +
          "overwritten. If a move ended there before, it is complete: set DATABASE_URL to that database.",
      );
    }
  }
  return tables;
}

/** Reads a copied table again, so that what the new database stored is compared and not what was sent to it. */
async function requireSame(
  target: Trx,
  table: TableShape,
  expected: { rows: number; checksum: string; total: number },
  report: MoveProgress,
): Promise<void> {
  const sum = new TableSum(table);
  for await (const rows of readPages(target, table)) {
    sum.add(rows);
    report({ table: table.name, checking: true, rows: sum.rows, total: expected.total });
  }
  if (sum.rows !== expected.rows || sum.digest() !== expected.checksum || expected.rows !== expected.total) {
    throw new MoveError(
      `The copy of table ${table.name} differs from its source. Nothing was stored; the source is unchanged.`,
    );
  }
}
