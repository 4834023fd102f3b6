import { rm } from "node:fs/promises";
import { openDatabase } from "../../../../api/store/db/database.ts";
import { compactAndMeasure, measureSqlite } from "../../harness/sizes.ts";
import { analyzePostgres, dropPostgres, fillPostgres, postgresDialect } from "./postgres.ts";
import { fillSqlite, sqliteDialect } from "./sqlite.ts";
import { statementsOf } from "./statements.ts";
/** What a service has stored before its first request: its chain, its keys, its lane, and the apps. */
const FACTS = ["meta", "lanes", "blocks", "apps", "api_tokens"];
/** Makes the tables of a new database, and copies what another one knows about its chain and its apps. */
export async function copyFacts(from, to, nonce) {
    const [source, target] = [await openDatabase(from), await openDatabase(to)];
    try {
        const copies = await Promise.all(FACTS.map((name) => source.read.selectFrom(name).selectAll().execute()));
        await target.write(async (trx) => {
            for (const [index, name] of FACTS.entries()) {
                const rows = copies[index] ?? [];
                if (rows.length > 0)
                    await trx.insertInto(name).values(rows).execute();
            }
            await trx.updateTable("lanes").set({ next_nonce: nonce, lease_holder: null, lease_until: 0 }).execute();
        });
    }
    finally {
        await source.close();
        await target.close();
    }
}
/** Fills a database that has only facts. @returns the bytes of each table with its indexes, after compacting. */
export async function fill(url, shape, facts) {
    const filling = { shape, ...facts, now: Date.now() };
    if (url.startsWith("file:")) {
        fillSqlite(url.slice("file:".length), statementsOf({ ...filling, dialect: sqliteDialect }));
        return measureSqlite(url);
    }
    await fillPostgres(url, statementsOf({ ...filling, dialect: postgresDialect }));
    const sizes = await compactAndMeasure(url);
    await analyzePostgres(url);
    return sizes;
}
/** Gives the space of a database back at once. */
export async function removeDatabase(url) {
    if (!url.startsWith("file:"))
        return dropPostgres(url);
    const file = url.slice("file:".length);
    for (const end of ["", "-wal", "-shm"])
        await rm(`${file}${end}`, { force: true });
}
