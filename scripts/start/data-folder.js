import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { requireWritableFolder } from "../../api/shared/folder.ts";
import { STATE_FILE } from "./kept-state.ts";
import { codeOf } from "./problem.ts";
export const DATABASE = "moneta.sqlite";
const LOCK = "start.lock";
/** SQLite's companion files. Without its `-wal` a database that was not closed lacks the last writes. */
const COMPANIONS = ["-wal", "-shm"];
/**
 * Locks the folder, so that a second `npm start` cannot use it. The operating system holds the lock, through SQLite, and
 * releases it when the process ends in any way.
 * @returns a function that releases the lock, or null when another process holds it.
 * @throws FolderError when the folder cannot be used.
 */
export function lockFolder(dataDir) {
    requireWritableFolder(dataDir, "DATA_DIR");
    const lock = new BetterSqlite3(join(dataDir, LOCK), { timeout: 0 });
    try {
        lock.exec("begin exclusive");
    }
    catch (error) {
        lock.close();
        if (codeOf(error) !== "SQLITE_BUSY")
            throw error;
        return null;
    }
    return () => {
        lock.close();
    };
}
export function hasDatabase(dataDir) {
    return existsSync(join(dataDir, DATABASE));
}
/** The first of `<folder>-2`, `<folder>-3`, ... that no other `npm start` uses. Creates nothing. */
export function nextFreeFolder(dataDir) {
    for (let number = 2;; number++) {
        const folder = `${dataDir}-${number}`;
        if (!existsSync(join(folder, LOCK)))
            return folder;
        const unlock = lockFolder(folder);
        if (unlock === null)
            continue;
        unlock();
        return folder;
    }
}
/** A database that belongs to no chain of this folder any more. */
const ASIDE = /^moneta\.(.+)\.sqlite(-wal|-shm)?$/;
/**
 * Renames the database of an earlier start and the state of its chain, because they do not fit together or a new chain begins.
 * Deletes nothing. A crash in between leaves something that the next call completes.
 * @returns the new path of the database, or null when there was none.
 */
export function setDatabaseAside(dataDir, now) {
    const database = join(dataDir, DATABASE);
    const state = join(dataDir, STATE_FILE);
    const time = unfinished(dataDir) ?? now.toISOString().replaceAll(":", "-");
    if (existsSync(state))
        renameSync(state, join(dataDir, `moneta.${time}.${STATE_FILE}`));
    if (!existsSync(database))
        return null;
    const aside = join(dataDir, `moneta.${time}.sqlite`);
    for (const companion of COMPANIONS) {
        if (existsSync(database + companion))
            renameSync(database + companion, aside + companion);
    }
    renameSync(database, aside);
    return aside;
}
/** The time in the names of companion files whose database was not renamed. */
function unfinished(dataDir) {
    const names = readdirSync(dataDir).map((name) => ASIDE.exec(name));
    const whole = new Set(names.flatMap((match) => (match?.[2] === undefined ? (match?.[1] ?? []) : [])));
    return names.find((match) => match?.[2] !== undefined && !whole.has(match[1] ?? ""))?.[1] ?? null;
}
