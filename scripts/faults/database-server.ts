import { randomBytes } from "node:crypto";

import pg from "pg";

import { PostgresServer } from "../postgres/server.ts";
import { PostgresProxy } from "../scene/postgres-proxy.ts";
import type { Random } from "../scene/random.ts";
import { openRecords, type Records } from "../scene/records.ts";

const DATABASE = "campaign";
/** The service's user. It owns the database, and has no other rights. */
const USER = "service";

/** A PostgreSQL server with a database for the service, and a proxy before it. The campaign itself uses no proxy. */
export class DatabaseServer {
  /** The database as the service reaches it. */
  readonly serviceUrl: string;
  readonly proxy: PostgresProxy;
  readonly #server: PostgresServer;

  private constructor(server: PostgresServer, proxy: PostgresProxy, serviceUrl: string) {
    this.#server = server;
    this.proxy = proxy;
    this.serviceUrl = serviceUrl;
  }

  /** @param asInProduction PostgreSQL of the system, whose commits wait for the disk, without the proxy. */
  static async start(random: Random, asInProduction: boolean): Promise<DatabaseServer> {
    const server = await (asInProduction ? PostgresServer.start("system", true) : PostgresServer.start());
    const password = randomBytes(16).toString("hex");
    const url = new URL(await server.createDatabase(DATABASE));
    const proxy = await PostgresProxy.start(Number(url.port), random);
    const proxied = `postgres://${USER}:${password}@127.0.0.1:${proxy.port.toString()}/${DATABASE}`;
    const database = new DatabaseServer(server, proxy, asInProduction ? url.href : proxied);
    await database.#run(`create role ${USER} login password '${password}'`);
    await database.#run(`alter database ${DATABASE} owner to ${USER}`);
    return database;
  }

  /** An empty database takes the place of the old one. */
  async recreate(): Promise<void> {
    await this.#server.dropDatabase(DATABASE);
    await this.#server.createDatabase(DATABASE);
  }

  records(): Promise<Records> {
    return openRecords(this.#server.url(DATABASE));
  }

  restart(mode: "fast" | "immediate"): Promise<void> {
    return this.#server.restart(mode);
  }

  /** Ends some connections of the service. @param share how likely each of them. @returns how many. */
  async endConnections(share = 1): Promise<number> {
    return this.#run(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${USER}' and random() < ${share.toString()}`,
    );
  }

  /** @param limit of the service's connections; -1: none. It is for new connections. */
  async limitConnections(limit: number): Promise<void> {
    await this.#run(`alter role ${USER} connection limit ${limit.toString()}`);
  }

  /** Whether transactions are read-only, as on a server that is a standby. It also affects open connections. */
  async setReadOnly(readOnly: boolean): Promise<void> {
    await this.#run(`alter system set default_transaction_read_only = ${readOnly ? "on" : "off"}`);
    await this.#run("select pg_reload_conf()");
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await this.#server.stop();
  }

  /** @returns the number of rows. */
  async #run(text: string): Promise<number> {
    const client = new pg.Client({
      connectionString: this.#server.url("postgres"),
      options: "-c default_transaction_read_only=off",
    });
    await client.connect();
    try {
      return (await client.query(text)).rowCount ?? 0;
    } finally {
      await client.end();
    }
  }
}
