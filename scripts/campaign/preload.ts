import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Loaded into the service's process before anything else: lets the campaign move its clock and take its disk away. The
 * service knows nothing of it.
 */
interface Order {
  clockOffset?: number;
  disk?: "ok" | "full" | "read-only";
  /** To be answered with the memory that is in use once nothing is left to collect. */
  measure?: boolean;
}

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
// Every connection that the service opens sets its busy timeout first.
Reflect.set(prototype, "pragma", function (this: SqliteConnection, ...args: unknown[]) {
  connections.add(this);
  return pragma.apply(this, args);
});

process.on("message", (order: Order) => {
  if (order.clockOffset !== undefined) offset = order.clockOffset;
  if (order.disk !== undefined) setDisk(order.disk);
  process.send?.(order.measure === true ? measure() : { done: true });
});
// The campaign's channel alone must not keep the service from ending.
process.channel?.unref();

function measure(): NodeJS.MemoryUsage {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage();
}

function setDisk(state: NonNullable<Order["disk"]>): void {
  for (const connection of connections) {
    if (connection.readonly || !connection.open) continue;
    const pages = Number(connection.pragma("page_count", { simple: true }));
    // SQLite itself then answers as it does on a full disk, or on one that may not be written.
    connection.pragma(`max_page_count = ${(state === "full" ? pages : 1_073_741_823).toString()}`);
    connection.pragma(`query_only = ${state === "read-only" ? "1" : "0"}`);
  }
}
