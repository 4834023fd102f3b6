import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import { parseDatabaseSettings, parseSettings } from "../config/settings.ts";
import { withWorkplace, type Workplace } from "../context/workplace.ts";
import { OperatorError } from "../operator/operator-error.ts";
import { type Database, openDatabase, openExistingDatabase } from "../store/db/database.ts";
import { DatabaseMissing } from "../store/db/database-error.ts";
import { PROGRAM, type Terminal } from "./terminal.ts";

/** The folder of `npm start`, relative to the project. */
const LOCAL_FOLDER = "data/local";

/**
 * Opens the database of the settings for one piece of work. The service may be running.
 * @throws DatabaseMissing when there is none: only `withNewDatabase` creates one.
 */
export function withDatabase<T>(terminal: Terminal, work: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl } = parseDatabaseSettings(terminal.env);
  return withHint(async () => use(await openExistingDatabase(databaseUrl), work));
}

/** The same, for the commands that may come before the first start of the service. It says when it creates the database. */
export async function withNewDatabase<T>(terminal: Terminal, work: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl } = parseDatabaseSettings(terminal.env);
  const missing = await databaseMissing(databaseUrl);
  const result = await use(await openDatabase(databaseUrl), work);
  if (missing !== null) terminal.remark?.(`Created a new database at ${missing}.${hintFor(missing)}\n`);
  return result;
}

/**
 * The database, the chain and the keys, for commands that compare them.
 * @throws DatabaseMissing; OperatorError when the service never started with the database.
 */
export function withServiceState<T>(terminal: Terminal, work: (place: Workplace) => Promise<T>): Promise<T> {
  const settings = parseSettings(terminal.env);
  return withHint(() => withWorkplace(settings, work));
}

async function use<T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> {
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** @returns where the database would be, when there is none. */
async function databaseMissing(databaseUrl: string): Promise<string | null> {
  try {
    await (await openExistingDatabase(databaseUrl)).close();
    return null;
  } catch (error) {
    if (error instanceof DatabaseMissing) return error.place;
    throw error;
  }
}

async function withHint<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseMissing)) throw error;
    const hint = hintFor(error.place);
    throw hint === "" ? error : new OperatorError(`There is no database at ${error.place}.${hint}`, { cause: error });
  }
}

/** Most people who meet a missing database want that of `npm start`. */
function hintFor(missing: string): string {
  const local = join(LOCAL_FOLDER, "moneta.sqlite");
  if (!existsSync(local) || resolve(local) === resolve(missing)) return "";
  return ` \`npm start\` keeps its database in ${LOCAL_FOLDER}. To use that one: DATA_DIR=${LOCAL_FOLDER} ${PROGRAM} ...`;
}
