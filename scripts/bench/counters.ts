import { subscribe } from "node:diagnostics_channel";
import { createRequire } from "node:module";
import { join } from "node:path";

import { obey } from "../scene/obey.ts";

/**
 * Loaded into a measured process before its program. Counts SQL statements, RPC calls and CPU time, and reports them over the
 * process's channel. The service contains no code for this.
 */
export interface Usage {
  /** SQL statements, without `begin`, `commit` and savepoints. */
  statements: number;
  /** SQL statements that write. */
  writes: number;
  rpcCalls: number;
  /** User and system time of the whole process. */
  cpuMs: number;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Statement = Record<"run" | "get" | "all" | "iterate", Method>;

interface Drivers {
  "better-sqlite3": { prototype: { prepare: (source: string) => Statement } };
  pg: { Client: { prototype: { query: Method } } };
}

const counts = { statements: 0, writes: 0, rpcCalls: 0 };
// The drivers of the measured checkout, which is where its process runs.
const require = createRequire(join(process.cwd(), "package.json"));

function driver<Name extends keyof Drivers>(name: Name): Drivers[Name] {
  return require(name) as Drivers[Name];
}

function count(source: string): void {
  const verb = /^\s*(\w+)/.exec(source)?.[1]?.toLowerCase() ?? "";
  const isWrite = ["insert", "update", "delete"].includes(verb);
  if (isWrite) counts.writes++;
  if (isWrite || verb === "select" || verb === "with") counts.statements++;
}

function countSqlite(): void {
  const { prototype } = driver("better-sqlite3");
  const { prepare } = prototype;
  const wrapped = new WeakSet();
  Reflect.set(prototype, "prepare", function (this: typeof prototype, source: string) {
    const statement = prepare.call(this, source);
    const methods = Object.getPrototypeOf(statement) as Statement;
    if (wrapped.has(methods)) return statement;
    wrapped.add(methods);
    for (const name of ["run", "get", "all", "iterate"] as const) {
      const original = methods[name];
      Reflect.set(methods, name, function (this: { source: string }, ...args: unknown[]) {
        count(this.source);
        return original.apply(this, args);
      });
    }
    return statement;
  });
}

/** What `pg` calls when a client runs a statement: a text, or an object with a text and parameters. */
function countPostgres(): void {
  const { prototype } = driver("pg").Client;
  const { query } = prototype;
  prototype.query = function (...args) {
    const [first] = args as [string | { text?: string } | undefined];
    const text = typeof first === "string" ? first : first?.text;
    if (text !== undefined) count(text);
    return query.apply(this, args);
  };
}

/** The service speaks JSON-RPC with `undici`. Calls of version 0.2.0, which used `fetch`, do not count. */
function countRpcCalls(): void {
  subscribe("undici:request:create", (message) => {
    const { body } = (message as { request: { body: unknown } }).request;
    if (!(body instanceof Uint8Array)) return;
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
    if (text.includes('"jsonrpc"')) counts.rpcCalls += text.split('"method"').length - 1;
  });
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { ...counts, cpuMs: (user + system) / 1000 };
}

countSqlite();
countPostgres();
countRpcCalls();
// Where there are two threads, each has counters of its own. The CPU time is that of the process.
obey(usage, (main, other) => ({
  statements: main.statements + other.statements,
  writes: main.writes + other.writes,
  rpcCalls: main.rpcCalls + other.rpcCalls,
  cpuMs: main.cpuMs,
}));
