import { createRequire } from "node:module";

import { armCrashPoint } from "../../api/shared/crash-point.ts";
import { obey } from "../scene/obey.ts";
import type { Control } from "./service.ts";

/*
 * Loaded into the service's process before the service. It lets the campaign shift the clock, make the disk fail and choose
 * where the process dies. The service contains no code for the first two.
 */

interface SqliteConnection {
  readonly: boolean;
  open: boolean;
  pragma(source: string, options?: { simple: boolean }): unknown;
}

const connections = new Set<SqliteConnection>();
const realNow = Date.now.bind(Date);
let offset = 0;

Date.now = () => realNow() + offset;

const Sqlite = createRequire(import.meta.url)("better-sqlite3") as { prototype: SqliteConnection };
const { prototype } = Sqlite;
const pragma = Reflect.get(prototype, "pragma") as (this: SqliteConnection, ...args: unknown[]) => unknown;
// The service sets pragmas on every connection that it opens, so this sees all connections.
Reflect.set(prototype, "pragma", function (this: SqliteConnection, ...args: unknown[]) {
  connections.add(this);
  return pragma.apply(this, args);
});

function carryOut(message: Control): { done: true } {
  if (message.clockOffset !== undefined) offset = message.clockOffset;
  if (message.disk !== undefined) setDisk(message.disk);
  if (message.crashPoint !== undefined) armCrashPoint(message.crashPoint);
  return { done: true };
}

obey(carryOut, (main) => main);

function setDisk(state: NonNullable<Control["disk"]>): void {
  for (const connection of connections) {
    if (connection.readonly || !connection.open) continue;
    const pages = Number(connection.pragma("page_count", { simple: true }));
    // SQLite then gives the same errors as on a full disk or a read-only one.
    connection.pragma(`max_page_count = ${(state === "full" ? pages : 1_073_741_823).toString()}`);
    connection.pragma(`query_only = ${state === "read-only" ? "1" : "0"}`);
  }
}
