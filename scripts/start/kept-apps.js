import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { plural } from "../../api/shared/text.ts";
import { LOCAL_CHAIN_ID } from "../../api/chain/local-contracts.ts";
import { DATABASE } from "./data-folder.ts";
import { messageOf, Problem } from "./problem.ts";
/** The database of the next chain. It has this name only when it is complete. */
const NEXT = "next.sqlite";
/** What belongs to no chain. All other tables are emptied, those of later versions included. */
const KEPT_TABLES = [
    ...["apps", "api_tokens", "console_sessions", "wallets", "webhooks", "meta", "counters"],
    ...["media", "app_media", "media_store_lock", "media_blocks", "media_bytes", "pins", "announcements"],
];
/** `wallets_key` names the seed: a user keeps the address. */
const KEPT_META = ["wallets_key", "media_store", "unbound_values"];
/** Totals of kept rows, and the positions of the feeds: a reader of events continues after the newest that it has seen. */
const KEPT_COUNTERS = ["wallets:", "media-bytes:", "events:"];
/**
 * Copies the database without what the old chain had: it keeps apps with their quotas, API tokens, sessions, webhooks with their
 * secrets, users with the addresses of their wallets, and hosted files. Requests, events and deliveries are left out, so nothing
 * of the old chain is sent or delivered again.
 * @returns what is kept and what is gone, for people; null: there is no database. @throws Problem
 */
export function keepApps(dataDir) {
    const [file, next] = [join(dataDir, DATABASE), join(dataDir, NEXT)];
    if (!existsSync(file))
        return null;
    try {
        const gone = countGone(file);
        if (gone === null)
            return null;
        // A start that was interrupted has made it, and may have renamed a part of the database.
        if (!existsSync(next))
            copyKept(file, next);
        return `Kept: apps, API tokens, webhooks, users with their addresses, quotas and hosted files. Gone with the old chain: ${gone}.`;
    }
    catch (error) {
        const hint = "Nothing was changed. To begin anew, and rename the database: npm start -- --fresh";
        throw new Problem(`The database ${file} cannot be read: ${messageOf(error)}.\n${hint}`, { cause: error });
    }
}
/** @returns null when there is no app that could be kept: a start was interrupted before it created one. */
function countGone(file) {
    const old = new BetterSqlite3(file, { readonly: true });
    try {
        const count = (table) => Number(old.prepare(`select count(*) from ${table}`).pluck().get());
        const hasTables = old.prepare("select 1 from sqlite_master where name = 'apps'").get() !== undefined;
        if (!hasTables || count("apps") === 0)
            return null;
        const [collections, tokens, requests] = [count("collections"), count("nfts"), count("requests")];
        return `${plural(collections, "collection")}, ${plural(tokens, "token")} and ${plural(requests, "request")}`;
    }
    finally {
        old.close();
    }
}
function copyKept(file, next) {
    const draft = `${next}.new`;
    rmSync(draft, { force: true });
    const old = new BetterSqlite3(file);
    try {
        old.prepare("vacuum into ?").run(draft);
    }
    finally {
        old.close();
    }
    const copy = new BetterSqlite3(draft);
    try {
        copy.pragma("foreign_keys = off");
        const tables = copy
            .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like 'kysely%'")
            .pluck()
            .all();
        copy.transaction(() => {
            for (const table of tables)
                if (!KEPT_TABLES.includes(table))
                    copy.exec(`delete from "${table}"`);
            keepRows(copy, "meta", KEPT_META.map((key) => `key = '${key}'`));
            keepRows(copy, "counters", KEPT_COUNTERS.map((prefix) => `key like '${prefix}%'`));
            // Versions before 0.4.0 do not have the column.
            const delegates = copy.prepare("select 1 from pragma_table_info('wallets') where name = 'delegated'").get();
            if (delegates !== undefined)
                copy.exec("update wallets set delegated = 0");
        })();
    }
    finally {
        copy.close();
    }
    renameSync(draft, next);
}
function keepRows(copy, table, conditions) {
    copy.exec(`delete from ${table} where not (${conditions.join(" or ")})`);
}
/** Gives the copy its name, once the old database has another. After a crash in between, the next start does it. */
export function useKeptApps(dataDir) {
    const next = join(dataDir, NEXT);
    if (existsSync(next) && !existsSync(join(dataDir, DATABASE)))
        renameSync(next, join(dataDir, DATABASE));
}
/** The old database goes on, or everything begins anew. */
export function dropKeptApps(dataDir) {
    rmSync(join(dataDir, NEXT), { force: true });
}
/** `npm start` renames databases of chains that are gone. That of another chain is an installation's. @throws Problem */
export function requireLocalDatabase(dataDir) {
    const file = join(dataDir, DATABASE);
    if (!existsSync(file))
        return;
    let chain;
    try {
        const database = new BetterSqlite3(file, { readonly: true });
        try {
            chain = database.prepare("select value from meta where key = 'chain_id'").pluck().get();
        }
        finally {
            database.close();
        }
    }
    catch {
        // What cannot be read is reported where it is used.
        return;
    }
    if (typeof chain === "string" && chain !== LOCAL_CHAIN_ID.toString())
        throw new Problem(`The database ${file} belongs to chain ${chain}, not to a local chain. Nothing was changed. Use another folder: DATA_DIR=data/local npm start`);
}
