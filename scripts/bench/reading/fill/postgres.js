import pg from "pg";
export const postgresDialect = {
    numbers: (count) => `generate_series(1::bigint, ${count.toString()}::bigint) as n(i)`,
    pad: (number) => `lpad(cast((${number}) as text), 10, '0')`,
    hash: (text) => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`,
    numbered: "overriding system value",
};
/** Runs the statements on one connection. Nobody else may use the database. */
export async function fillPostgres(url, statements) {
    await onConnection(url, async (client) => {
        // Checks no foreign keys. A database that is only half filled is thrown away.
        await client.query("set session_replication_role = replica");
        await client.query("set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '1GB'");
        // An index that is built once costs less than one that grows row by row. Those of constraints stay.
        const { rows: dropped } = await client.query(`select indexname as name, indexdef as sql from pg_indexes where schemaname = current_schema()
          and not exists (select 1 from pg_constraint where conindid = quote_ident(indexname)::regclass)`);
        for (const { name } of dropped)
            await client.query(`drop index ${pg.escapeIdentifier(name)}`);
        for (const statement of statements)
            await client.query(statement);
        for (const { sql } of dropped)
            await client.query(sql);
        const { rows: numbered } = await client.query(`select table_name as name, column_name as column from information_schema.columns
        where table_schema = current_schema() and is_identity = 'YES'`);
        for (const { name, column } of numbered) {
            const [table, row] = [pg.escapeIdentifier(name), pg.escapeIdentifier(column)];
            await client.query(`select setval(pg_get_serial_sequence('${name}', '${column}'), (select coalesce(max(${row}), 0) + 1 from ${table}), false)`);
        }
    });
}
/** What the server does by itself after some time: it counts what its planner must know, and marks the rows that all see. */
export async function analyzePostgres(url) {
    await onConnection(url, (client) => client.query("vacuum (analyze)"));
}
/** Ends all connections to the database and removes it. */
export async function dropPostgres(url) {
    const place = new URL(url);
    const name = place.pathname.slice(1);
    place.pathname = "/postgres";
    await onConnection(place.href, (client) => client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`));
}
async function onConnection(url, work) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
        await work(client);
    }
    finally {
        await client.end();
    }
}
