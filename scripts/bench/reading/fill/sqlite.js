import { createHash } from "node:crypto";
import { renameSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
export const sqliteDialect = {
    numbers: (count) => `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count.toString()}) select i from n) as n`,
    pad: (number) => `printf('%010d', ${number})`,
    hash: (text) => `sha256_hex(${text})`,
    numbered: "",
};
/** Runs the statements in one transaction, and compacts the file. Nobody else may use it. */
export function fillSqlite(file, statements) {
    const database = new BetterSqlite3(file);
    try {
        database.function("sha256_hex", { deterministic: true }, (text) => createHash("sha256").update(String(text)).digest("hex"));
        // A write-ahead log would hold every row a second time. A database that is only half filled is thrown away.
        database.pragma("journal_mode = MEMORY");
        database.pragma("synchronous = OFF");
        database.pragma("foreign_keys = OFF");
        database.pragma("cache_size = -400000");
        database.exec("begin");
        // An index that is built once costs less than one that grows row by row.
        const indexes = database.prepare("select name, sql from sqlite_master where type = 'index' and sql is not null");
        const dropped = indexes.all();
        for (const { name } of dropped)
            database.exec(`drop index "${name}"`);
        for (const statement of statements)
            database.exec(statement);
        for (const { sql } of dropped)
            database.exec(sql);
        database.exec("commit");
        // Writes the pages once, in order.
        database.prepare("vacuum into ?").run(`${file}-compact`);
    }
    finally {
        database.close();
    }
    renameSync(`${file}-compact`, file);
}
