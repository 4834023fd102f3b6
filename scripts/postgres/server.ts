import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client, escapeIdentifier } from "pg";

import { USER } from "./cluster.ts";
import type { Ready, RestartMode } from "./guard.ts";

const GUARD = join(import.meta.dirname, "guard.ts");

/** A PostgreSQL server of this process, on loopback, with its own data. It ends with this process, however that ends. */
export class PostgresServer {
  readonly #guard: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ready: Ready;
  #admin: Client;

  private constructor(guard: ChildProcess, lines: AsyncIterator<string>, ready: Ready) {
    this.#guard = guard;
    this.#lines = lines;
    this.#ready = ready;
    this.#admin = this.#newAdmin();
  }

  /**
   * @param source which PostgreSQL; by default the one that the variable POSTGRES names: see `findPostgres`.
   * @param durable see `createCluster`.
   */
  static async start(source = process.env["POSTGRES"], durable = false): Promise<PostgresServer> {
    const guard = spawn(process.execPath, [GUARD, ...(durable ? ["--durable"] : [])], {
      env: { ...process.env, POSTGRES: source },
      // Its own group: a signal to the group of this process must not end the guard before it has stopped the server.
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: guard.stdout })[Symbol.asyncIterator]();
    const server = new PostgresServer(guard, lines, await nextReady(lines));
    await server.#admin.connect();
    return server;
  }

  /**
   * Stops the server, which ends all connections, and starts it again on the same port.
   * @param mode "immediate" is like a crash of the server. What was committed is there afterwards.
   */
  async restart(mode: RestartMode): Promise<void> {
    await this.#admin.end();
    this.#guard.stdin?.write(`${mode}\n`);
    await nextReady(this.#lines);
    this.#admin = this.#newAdmin();
    await this.#admin.connect();
  }

  #newAdmin(): Client {
    return new Client({ connectionString: this.url("postgres") });
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

  /** How many clients are connected to the database. The server's own processes, such as autovacuum, do not count. */
  async connections(name: string): Promise<number> {
    const text =
      "select count(*)::integer as count from pg_stat_activity where datname = $1 and backend_type = 'client backend'";
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

/** The guard prints a line each time the server has started. */
async function nextReady(lines: AsyncIterator<string>): Promise<Ready> {
  const line = await lines.next();
  if (line.done === true) throw new Error("The PostgreSQL server did not start. The reason is above.");
  return JSON.parse(line.value) as Ready;
}
