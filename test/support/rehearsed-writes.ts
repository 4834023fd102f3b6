import { sql } from "kysely";

import type { Trx } from "../../api/store/db/sql.ts";
import { Writes } from "../../api/store/db/writes.ts";

/*
 * With TEST_WRITES=twice, every write operation of this process runs twice, and its first run is rolled back: as on
 * PostgreSQL when a transaction runs again after a deadlock. A test then fails where an operation changes something outside of
 * its transaction.
 */

type Operation = (trx: Trx) => Promise<unknown>;
type Write = (operation: Operation) => Promise<unknown>;

function rehearsed(operation: Operation): Operation {
  return async (trx) => {
    await sql`savepoint rehearsal`.execute(trx);
    // An operation that fails will fail again.
    await operation(trx).catch(() => undefined);
    await sql`rollback to savepoint rehearsal`.execute(trx);
    await sql`release savepoint rehearsal`.execute(trx);
    return operation(trx);
  };
}

function rehearse(writes: object): void {
  const prototype = writes as Record<string, Write>;
  for (const method of ["run", "runGroup"]) {
    const write = prototype[method];
    if (write === undefined) throw new Error(`there is no method ${method}`);
    prototype[method] = function (operation) {
      return write.call(this, rehearsed(operation));
    };
  }
}

/** Whether every write operation runs twice. */
const WRITES_TWICE = process.env["TEST_WRITES"] === "twice";

if (WRITES_TWICE) rehearse(Writes.prototype);
