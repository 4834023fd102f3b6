import { openDatabase } from "../../store/db/database.ts";
import { type MovedTable, type MoveProgress, moveRows } from "../../store/move/move.ts";
import { openSnapshot } from "../../store/move/snapshot.ts";
import { OperatorError } from "../operator-error.ts";

/**
 * Copies the database of one URL into the empty database of another, of the same engine or the other one.
 * @throws OperatorError, DatabaseError: the message says what is in the way. The source is never changed.
 */
export async function moveDatabase(from: string, to: string, report: MoveProgress): Promise<MovedTable[]> {
  if (from === to)
    throw new OperatorError("The new database is the one that the service uses already. Name another one.");
  await using opened = new AsyncDisposableStack();
  const source = opened.adopt(await openSnapshot(from, "alone"), (one) => one.close());
  const target = opened.adopt(await openDatabase(to), (one) => one.close());
  // One transaction: an interrupted move leaves an empty database, and the command can be run again.
  return await target.writeGroup((trx) => moveRows(source.db, trx, report));
}
