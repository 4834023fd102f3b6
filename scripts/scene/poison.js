import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { engineOf } from "../../api/store/db/sql.ts";
/**
 * Makes the database refuse one row: every write that meets the condition throws, as a bug in the code for such rows would.
 * @param when SQL over `new`, or over `old` of a deletion.
 * @returns lets the row pass again.
 */
export async function poison(database, on) {
    const name = `poison_${randomBytes(6).toString("hex")}`;
    const run = (text) => database.write((trx) => sql.raw(text).execute(trx));
    const head = `create trigger ${name} before ${on.event} on ${on.table}`;
    if (engineOf(database.read) === "sqlite") {
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
