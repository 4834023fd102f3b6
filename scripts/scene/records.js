import BetterSqlite3 from "better-sqlite3";
import pg from "pg";
import { pathOf } from "../../api/store/db/database.ts";
import { isPostgres } from "../../api/store/db/errors.ts";
export async function openRecords(databaseUrl) {
    const reader = isPostgres(databaseUrl) ? await readPostgres(databaseUrl) : readSqlite(pathOf(databaseUrl));
    const one = async (text, ...values) => {
        const [row] = await reader.all(text, ...values);
        if (row === undefined)
            throw new Error(`no row: ${text}`);
        return row;
    };
    return { ...reader, one };
}
/** Reads records that are being opened, and closes them. */
export async function withRecords(opening, work) {
    const records = await opening;
    try {
        return await work(records);
    }
    finally {
        await records.close();
    }
}
function readSqlite(file) {
    const database = new BetterSqlite3(file, { readonly: true });
    return {
        all: (text, ...values) => Promise.resolve(database.prepare(text).all(...values)),
        field: (column, name) => `json_extract(${column}, '$.${name}')`,
        close: () => {
            database.close();
            return Promise.resolve();
        },
    };
}
/** Type ids of `bigint` and `numeric`, which count and add up. */
const NUMBERS = [20, 1700];
async function readPostgres(url) {
    const getTypeParser = (type, format) => NUMBERS.includes(type) ? Number : pg.types.getTypeParser(type, format);
    const client = new pg.Client({ connectionString: url, types: { getTypeParser } });
    await client.connect();
    return {
        all: async (text, ...values) => {
            let number = 0;
            const numbered = text.replaceAll("?", () => `$${(++number).toString()}`);
            return (await client.query(numbered, values)).rows;
        },
        field: (column, name) => `(${column}::json->>'${name}')`,
        close: () => client.end(),
    };
}
