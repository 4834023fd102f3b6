import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

import { findPostgres } from "../postgres/programs.ts";
import { PostgresServer } from "../postgres/server.ts";
import { anvilBinary } from "../scene/anvil.ts";
import { callFrom, type RawAnswer, type RawCall } from "../scene/callers.ts";
import { freePort } from "../scene/loopback.ts";
import { NodeProcess } from "../scene/node.ts";
import { ROOT } from "../scene/program.ts";
import { Scene, sqliteUrl } from "../scene/scene.ts";
import { ServiceProcess } from "../scene/service.ts";
import type { Engine } from "./options.ts";

const DATABASE = "faults";
/** Milliseconds between two polls of a request, and within which it must settle. */
const POLL = 100;
const SETTLE_TIMEOUT = 60_000;

export type Json = Record<string, unknown>;

export interface App {
  name: string;
  token: string;
  /** Loopback address of its calls. */
  from: string;
}

export interface InstallationOptions {
  engine: Engine;
  /** Folder of the project whose service runs. Default: this one. */
  checkout?: string;
  settings?: Record<string, string>;
  /** Starts another node than the usual one. */
  node?: () => Promise<NodeProcess>;
}

/** What a service stands on. */
export interface Ground {
  node: NodeProcess;
  server: PostgresServer | null;
  checkout: string;
  env: Record<string, string>;
}

/** A chain, and a service with its data on a "disk" that can be lost. Its keys are elsewhere. */
export class Installation {
  readonly folder: string;
  readonly node: NodeProcess;
  readonly env: Record<string, string>;
  readonly url: string;
  protected readonly scene: Scene;
  readonly #server: PostgresServer | null;
  readonly #checkout: string;
  #service: ServiceProcess | null = null;

  constructor(scene: Scene, { node, server, checkout, env }: Ground) {
    this.scene = scene;
    this.folder = scene.folder;
    this.node = node;
    this.env = env;
    this.url = `http://127.0.0.1:${env["PORT"] ?? ""}`;
    this.#server = server;
    this.#checkout = checkout;
  }

  static create(options: InstallationOptions): Promise<Installation> {
    return Scene.open("faults", async (scene) => new Installation(scene, await groundOf(scene, options)));
  }

  get databaseUrl(): string {
    return this.env["DATABASE_URL"] ?? sqliteUrl(join(this.folder, "disk"));
  }

  /** The process that was started last. */
  get service(): ServiceProcess {
    if (this.#service === null) throw new Error("the service was not started");
    return this.#service;
  }

  /** @param more settings for this start. */
  async start(more: Record<string, string> = {}): Promise<void> {
    const log = join(this.folder, "service.log");
    this.#service = await ServiceProcess.start({ ...this.env, ...more }, log, this.#checkout);
  }

  async kill(): Promise<void> {
    if (this.#service?.exited === false) await this.#service.kill();
  }

  /** Deletes everything but the keys and the back-ups. On PostgreSQL, an empty database takes the place of the old one. */
  async loseDisk(): Promise<void> {
    await rm(join(this.folder, "disk"), { recursive: true });
    await this.#server?.dropDatabase(DATABASE);
    await this.#server?.createDatabase(DATABASE);
  }

  /** Runs a command of the service's command line. @returns its output. @throws when it fails. */
  async cli(...words: string[]): Promise<string> {
    const options = { cwd: this.#checkout, env: { PATH: process.env["PATH"], ...this.env } };
    return (await promisify(execFile)(process.execPath, ["api/cli/main.ts", ...words], options)).stdout;
  }

  async app(name: string, from = "127.0.0.1"): Promise<App> {
    const { token } = JSON.parse(await this.cli("app", "create", name, "--json")) as { token: string };
    return { name, token, from };
  }

  call(app: App, method: string, path: string, body?: object | string, more?: Partial<RawCall>): Promise<RawAnswer> {
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const sent = { method, path, token: app.token, from: app.from, ...(text === undefined ? {} : { body: text }) };
    return callFrom(this.url, { ...sent, ...more });
  }

  /** @throws unless the answer is 200. */
  async ok<T = Json>(app: App, method: string, path: string, body?: object | string): Promise<T> {
    const { status, text } = await this.call(app, method, path, body);
    if (status !== 200) throw new Error(`${method} ${path} answered ${String(status)}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as T;
  }

  async wallet(app: App): Promise<string> {
    return (await this.ok<{ address: string }>(app, "POST", "/v1/accounts", {})).address;
  }

  async collection(app: App, fields: object = {}): Promise<string> {
    const body = { type: "ERC721", name: app.name, symbol: "FLT", ...fields };
    const { request_id: id } = await this.ok<{ request_id: string }>(app, "POST", "/v1/collections", body);
    return String((await this.completed(app, id))["nft_collection"]);
  }

  /** @returns the final request. @throws when it is not final in time. */
  async settled(app: App, id: string, timeout = SETTLE_TIMEOUT): Promise<Json> {
    const deadline = performance.now() + timeout;
    for (;;) {
      const { status, text } = await this.call(app, "GET", `/v1/requests/${id}`, undefined, { timeout });
      const request = status === 200 ? (JSON.parse(text) as Json) : {};
      if (request["status"] === "completed" || request["status"] === "failed") return request;
      if (this.service.exited) throw new Error("the service stopped");
      if (performance.now() > deadline) throw new Error(`not final within ${(timeout / 1_000).toString()} s`);
      await wait(POLL);
    }
  }

  /** @throws when the request fails, or is not final in time. */
  async completed(app: App, id: string, timeout = SETTLE_TIMEOUT): Promise<Json> {
    const request = await this.settled(app, id, timeout);
    if (request["status"] === "failed") throw new Error(`a request failed: ${JSON.stringify(request).slice(0, 300)}`);
    return request;
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.scene.close();
  }
}

/** Starts a chain and a database, and makes the settings of a service with keys of its own. */
export async function groundOf(scene: Scene, options: InstallationOptions): Promise<Ground> {
  const { folder } = scene;
  const { engine, checkout = ROOT, settings = {}, node: startNode } = options;
  const usual = () => NodeProcess.start(anvilBinary() === null ? "hardhat" : "anvil", folder);
  const node = await scene.add((startNode ?? usual)());
  // The back-up needs the programs of the system.
  const server = engine === "postgres" ? await scene.add(PostgresServer.start("system", true)) : null;
  const database =
    server === null
      ? {}
      : { DATABASE_URL: await server.createDatabase(DATABASE), PG_BIN: findPostgres("system").folder };
  await mkdir(join(folder, "keys"));
  const env = {
    PORT: (await freePort()).toString(),
    RPC_URL: node.url,
    DATA_DIR: join(folder, "disk"),
    DEPLOYMENTS_DIR: join(folder, "disk", "deployments"),
    PUBLIC_URL: "http://localhost:3000",
    MEDIA_STORE: "files",
    SEED_FILE: join(folder, "keys", "seed.jwe"),
    SEED_PASSPHRASE: randomBytes(16).toString("hex"),
    SECRET_KEYS: randomBytes(32).toString("base64"),
    RATE_LIMIT_PER_MINUTE: "1000000",
    PUBLIC_RATE_LIMIT_PER_MINUTE: "1000000",
    BATCH_ITEMS_PER_MINUTE: "1000000",
    NODE_COMPILE_CACHE: join(folder, "compiled"),
    ...database,
    ...settings,
  };
  return { node, server, checkout, env };
}
