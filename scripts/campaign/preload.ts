import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Loaded into the service's process before the service. It lets the campaign shift the clock and make the disk fail. The
 * service contains no code for this.
 */
interface ControlMessage {
  clockOffset?: number;
  disk?: "ok" | "full" | "read-only";
  /** Answer with the memory use after a garbage collection. */
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
// The service sets pragmas on every connection that it opens, so this sees all connections.
Reflect.set(prototype, "pragma", function (this: SqliteConnection, ...args: unknown[]) {
  connections.add(this);
  return pragma.apply(this, args);
});

process.on("message", (message: ControlMessage) => {
  if (message.clockOffset !== undefined) offset = message.clockOffset;
  if (message.disk !== undefined) setDisk(message.disk);
  process.send?.(message.measure === true ? measure() : { done: true });
});
// The channel to the campaign must not keep the process alive.
process.channel?.unref();

function measure(): NodeJS.MemoryUsage {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage();
}

function setDisk(state: NonNullable<ControlMessage["disk"]>): void {
  for (const connection of connections) {
    if (connection.readonly || !connection.open) continue;
    const pages = Number(connection.pragma("page_count", { simple: true }));
    // SQLite then gives the same errors as on a full disk or a read-only one.
    connection.pragma(`max_page_count = ${(state === "full" ? pages : 1_073_741_823).toString()}`);
    connection.pragma(`query_only = ${state === "read-only" ? "1" : "0"}`);
  }
}
