import { fileURLToPath } from "node:url";
import BetterSqlite3 from "better-sqlite3";
import pg from "pg";
/** Gives back the space that a database does not use, and measures what is left. Nobody else may use the database. */
export async function compactAndMeasure(url) {
    return url.startsWith("file:") ? onSqlite(url, true) : onPostgres(url);
}
/** Measures a SQLite database that is compact already. */
export function measureSqlite(url) {
    return onSqlite(url, false);
}
function onSqlite(url, compact) {
    const database = new BetterSqlite3(url.startsWith("file://") ? fileURLToPath(url) : url.slice("file:".length));
    try {
        if (compact)
            database.exec("vacuum");
        const rows = database
            .prepare("select m.tbl_name as name, sum(d.pgsize) as bytes from dbstat as d join sqlite_master as m on m.name = d.name group by 1")
            .all();
        return new Map(rows.map(({ name, bytes }) => [name, bytes]));
    }
    finally {
        database.close();
    }
}
async function onPostgres(url) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
        await client.query("vacuum full");
        const { rows } = await client.query(`select relname as name, pg_total_relation_size(oid) as bytes from pg_class
        where relkind = 'r' and relnamespace = current_schema()::regnamespace`);
        return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
    }
    finally {
        await client.end();
    }
}
