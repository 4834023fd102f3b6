import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

import { armCrashPoint } from "../../api/shared/crash-point.ts";
import type { Control } from "./service-process.ts";

/**
 * Loaded into the service's process before the service. It lets the campaign shift the clock, make the disk fail and choose
 * where the process dies. The service contains no code for the first two.
 */
interface ControlMessage extends Control {
  /** Answer with the memory use after a garbage collection. */
  measure?: boolean;
}

type Answer = { done: true } | NodeJS.MemoryUsage;

type BetweenThreads = { ready: true } | { message: ControlMessage } | { answer: Answer };

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

function carryOut(message: ControlMessage): Answer {
  if (message.clockOffset !== undefined) offset = message.clockOffset;
  if (message.disk !== undefined) setDisk(message.disk);
  if (message.crashPoint !== undefined) armCrashPoint(message.crashPoint);
  return message.measure === true ? measure() : { done: true };
}

/** The threads of the process talk over it: each has its own clock and its own connections. */
const threads = new BroadcastChannel("moneta-campaign");
threads.unref();

/** In the main thread: gives each message to the other thread too, if there is one, and answers when both are done. */
function obeyCampaign(): void {
  let hasOther = false;
  let answered: (answer: Answer) => void = () => undefined;
  threads.onmessage = ({ data }: { data: BetweenThreads }) => {
    if ("ready" in data) hasOther = true;
    if ("answer" in data) answered(data.answer);
  };
  process.on("message", (message: ControlMessage) => {
    const here = carryOut(message);
    if (!hasOther) {
      process.send?.(here);
      return;
    }
    answered = (there) => {
      process.send?.(
        "heapUsed" in here && "heapUsed" in there ? { ...here, heapUsed: here.heapUsed + there.heapUsed } : here,
      );
    };
    threads.postMessage({ message } satisfies BetweenThreads);
  });
  // The channel to the campaign must not keep the process alive.
  process.channel?.unref();
}

/** In any other thread. */
function obeyMainThread(): void {
  threads.onmessage = ({ data }: { data: BetweenThreads }) => {
    if ("message" in data) threads.postMessage({ answer: carryOut(data.message) } satisfies BetweenThreads);
  };
  threads.postMessage({ ready: true } satisfies BetweenThreads);
}

if (isMainThread) obeyCampaign();
else obeyMainThread();

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
