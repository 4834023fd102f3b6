import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createProgram } from "../../api/cli/program.ts";
import { createApp } from "../../api/operator/create-app.ts";
import { type Database, openDatabase } from "../../api/store/db/database.ts";
import { ServiceProcess } from "../campaign/service-process.ts";
import { anvilBinary } from "../nodes/anvil-binary.ts";
import { freePort } from "../nodes/free-port.ts";
import { NodeProcess } from "../nodes/node-process.ts";
import { findPostgres } from "../postgres/programs.ts";
import { PostgresServer } from "../postgres/server.ts";
import { WebhookReceiver } from "../webhooks/receiver.ts";

export type Engine = "sqlite" | "postgres";

const DATABASE = "drill";

/** A chain, a service with its data on a "disk" that can be lost, and a receiver of webhooks. Keys are elsewhere. */
export class Scene {
  readonly folder: string;
  readonly node: NodeProcess;
  readonly receiver: WebhookReceiver;
  readonly baseUrl: string;
  readonly env: Record<string, string>;
  readonly #server: PostgresServer | null;
  #service: ServiceProcess | null = null;
  token = "";

  private constructor(
    folder: string,
    node: NodeProcess,
    receiver: WebhookReceiver,
    server: PostgresServer | null,
    env: Record<string, string>,
  ) {
    this.folder = folder;
    this.node = node;
    this.receiver = receiver;
    this.#server = server;
    this.env = env;
    this.baseUrl = `http://127.0.0.1:${env["PORT"] ?? ""}`;
  }

  static async create(engine: Engine): Promise<Scene> {
    const folder = await mkdtemp(join(tmpdir(), "moneta-drill-"));
    const node = await NodeProcess.start(anvilBinary() === null ? "hardhat" : "anvil", folder);
    const receiver = await WebhookReceiver.listen();
    const server = engine === "postgres" ? await PostgresServer.start("system") : null;
    const database =
      server === null
        ? {}
        : { DATABASE_URL: await server.createDatabase(DATABASE), PG_BIN: findPostgres("system").folder };
    await mkdir(join(folder, "keys"));
    return new Scene(folder, node, receiver, server, {
      PORT: (await freePort()).toString(),
      RPC_URL: node.url,
      DATA_DIR: join(folder, "disk"),
      DEPLOYMENTS_DIR: join(folder, "disk", "deployments"),
      MEDIA_STORE: "files",
      SEED_FILE: join(folder, "keys", "seed.jwe"),
      SEED_PASSPHRASE: randomBytes(16).toString("hex"),
      SECRET_KEYS: randomBytes(32).toString("base64"),
      RATE_LIMIT_PER_MINUTE: "1000000",
      NODE_COMPILE_CACHE: join(folder, "compiled"),
      ...database,
    });
  }

  get databaseUrl(): string {
    return this.env["DATABASE_URL"] ?? `file:${join(this.folder, "disk", "moneta.sqlite")}`;
  }

  /** @param more settings for this start. */
  async start(more: Record<string, string> = {}): Promise<void> {
    this.#service = await ServiceProcess.start({ ...this.env, ...more }, join(this.folder, "service.log"));
    if (this.token !== "") return;
    this.token = await this.inDatabase(async (database) => (await createApp({ database }, "drill")).token);
  }

  async kill(): Promise<void> {
    if (this.#service?.running === true) await this.#service.kill();
  }

  /** Deletes everything but the keys and the back-ups. On PostgreSQL, an empty database takes the place of the old one. */
  async loseDisk(): Promise<void> {
    await rm(join(this.folder, "disk"), { recursive: true });
    await this.#server?.dropDatabase(DATABASE);
    await this.#server?.createDatabase(DATABASE);
  }

  /** Runs a command of the command line. @returns its output. @throws when it fails. */
  async cli(...words: string[]): Promise<string> {
    let output = "";
    const write = (text: string) => {
      output += text;
    };
    const program = await createProgram({ env: { PATH: process.env["PATH"], ...this.env }, write }, words);
    await program.parseAsync(words, { from: "user" });
    return output;
  }

  async call(
    method: string,
    path: string,
    body?: object,
    key?: string,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async inDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = await openDatabase(this.databaseUrl);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.receiver.close();
    await this.node.stop();
    await this.#server?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
