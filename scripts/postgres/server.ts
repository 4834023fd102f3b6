import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { Client, escapeIdentifier } from "pg";

import { USER } from "./cluster.ts";
import type { Ready } from "./guard.ts";

const GUARD = join(import.meta.dirname, "guard.ts");

/** A PostgreSQL server of this process, on loopback, with its own data. It ends with this process, however that ends. */
export class PostgresServer {
  readonly #guard: ChildProcess;
  readonly #ready: Ready;
  readonly #admin: Client;

  private constructor(guard: ChildProcess, ready: Ready) {
    this.#guard = guard;
    this.#ready = ready;
    this.#admin = new Client({ connectionString: this.url("postgres") });
  }

  /**
   * @param source which PostgreSQL; by default the one that the variable POSTGRES names: see `findPostgres`.
   * @param durable see `createCluster`.
   */
  static async start(source = process.env["POSTGRES"], durable = false): Promise<PostgresServer> {
    const guard = spawn(process.execPath, ["--import", "tsx", GUARD, ...(durable ? ["--durable"] : [])], {
      env: { ...process.env, POSTGRES: source },
      // Its own group: a signal to the group of this process must not end the guard before it has stopped the server.
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const server = new PostgresServer(guard, await ready(guard));
    await server.#admin.connect();
    return server;
  }

  /** The URL of one of its databases. */
  url(database: string): string {
    const { port, password } = this.#ready;
    return `postgres://${USER}:${password}@127.0.0.1:${port.toString()}/${database}`;
  }

  /** @param template the database to copy. Nobody may be connected to it. */
  async createDatabase(name: string, template = "template1"): Promise<string> {
    await this.#admin.query(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`);
    return this.url(name);
  }

  /** Ends the connections to the database and removes it. */
  async dropDatabase(name: string): Promise<void> {
    await this.#admin.query(`drop database ${escapeIdentifier(name)} with (force)`);
  }

  /** How many clients are connected to the database. */
  async connections(name: string): Promise<number> {
    const text = "select count(*)::integer as count from pg_stat_activity where datname = $1";
    const { rows } = await this.#admin.query<{ count: number }>(text, [name]);
    return rows[0]?.count ?? 0;
  }

  async stop(): Promise<void> {
    await this.#admin.end();
    const gone = this.#guard.exitCode === null ? once(this.#guard, "exit") : null;
    this.#guard.stdin?.end();
    await gone;
  }
}

/** The first line that the guard prints. */
async function ready(guard: ChildProcess): Promise<Ready> {
  const lines = createInterface({ input: guard.stdout as Readable });
  const ended = once(guard, "exit").then(() => null);
  const line = await Promise.race([once(lines, "line"), ended]);
  if (line === null) throw new Error("The PostgreSQL server did not start. The reason is above.");
  return JSON.parse(String(line[0])) as Ready;
}
