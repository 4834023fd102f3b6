import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { writeSeedFile } from "../../api/keys/seed-file.ts";
import type { Engine } from "../../api/store/db/sql.ts";
import { type Database, openDatabase } from "../../api/store/db/database.ts";
import { PostgresServer } from "../postgres/server.ts";
import { FaultProxy } from "../scene/fault-proxy.ts";
import { freePort } from "../scene/loopback.ts";
import { NodeProcess } from "../scene/node.ts";
import { Random } from "../scene/random.ts";
import { openRecords, type Records } from "../scene/records.ts";
import { Scene, sqliteUrl } from "../scene/scene.ts";
import { ServiceProcess } from "../scene/service.ts";
import { until } from "../scene/until.ts";
import { Outside } from "./outside.ts";

/** Published in BIP-39: a seed that only tests use. */
export const SEED_PHRASE = `${"abandon ".repeat(23)}art`;

/** What every process of the fixture runs with. The keys protect nothing. */
export const SETTINGS = {
  PUBLIC_URL: "http://127.0.0.1:3000",
  SEED_PASSPHRASE: "fixture",
  SECRET_KEYS: Buffer.alloc(32, 1).toString("base64"),
  CONFIRMATIONS: "4",
  LANES: "3",
  APP_GAS_PER_DAY: "1000000000000",
  MEDIA_STORE: "database",
};

export type Body = Record<string, unknown>;
export interface App {
  id: string;
  name: string;
  token: string;
}

/** A node, a database, and processes of the service that are started and killed one after the other. */
export class World {
  readonly folder: string;
  readonly node: NodeProcess;
  readonly proxy: FaultProxy;
  readonly outside: Outside;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly #scene: Scene;
  readonly #records: Records;
  readonly #running = new Set<ServiceProcess>();
  #port = 0;

  private constructor(
    parts: Pick<World, "node" | "proxy" | "outside" | "database" | "databaseUrl">,
    scene: Scene,
    records: Records,
  ) {
    this.folder = scene.folder;
    this.node = parts.node;
    this.proxy = parts.proxy;
    this.outside = parts.outside;
    this.database = parts.database;
    this.databaseUrl = parts.databaseUrl;
    this.#scene = scene;
    this.#records = records;
  }

  static open(engine: Engine): Promise<World> {
    return Scene.open("fixture", async (scene) => {
      const { folder } = scene;
      await writeSeedFile(join(folder, "seed.jwe"), SEED_PHRASE, SETTINGS.SEED_PASSPHRASE);
      // The version that the machine has: a dump of an old version loads into newer ones too.
      const postgres = engine === "postgres" ? await scene.add(PostgresServer.start("system")) : null;
      const databaseUrl = (await postgres?.createDatabase("fixture")) ?? sqliteUrl(folder);
      const node = await scene.add(NodeProcess.start("anvil", folder));
      const proxy = await scene.add(FaultProxy.start(node.url, new Random(1)));
      const outside = await scene.add(Outside.listen());
      const database = await scene.add(openDatabase(databaseUrl));
      const records = await scene.add(openRecords(databaseUrl));
      const world = new World({ node, proxy, outside, database, databaseUrl }, scene, records);
      await scene.add({ stop: () => world.killAll() });
      return world;
    });
  }

  close(): Promise<void> {
    return this.#scene.close();
  }

  get env(): Record<string, string> {
    return {
      ...SETTINGS,
      DATA_DIR: this.folder,
      DATABASE_URL: this.databaseUrl,
      DEPLOYMENTS_DIR: join(this.folder, "deployments"),
      RPC_URL: this.proxy.url,
      // Nothing listens there, so pins wait.
      IPFS_PIN_RPC: "http://127.0.0.1:9",
    };
  }

  /** Starts a process. With the role `api`, calls go to it from now on. */
  async start(roles: string, more: Record<string, string> = {}): Promise<ServiceProcess> {
    const port = roles.includes("api") ? await freePort() : 0;
    if (port !== 0) this.#port = port;
    const env = { ...this.env, ROLES: roles, PORT: port.toString(), ...more };
    const process = await ServiceProcess.start(env, join(this.folder, "service.log"));
    this.#running.add(process);
    return process;
  }

  /** As after a power cut: what the processes hold stays leased to them. */
  async killAll(): Promise<void> {
    await Promise.all([...this.#running].map((process) => process.kill()));
    this.#running.clear();
  }

  /** A call as an app. @throws unless the answer is 200. */
  async call<T = Body>(app: App, method: string, path: string, body?: Body): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.#port.toString()}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${app.token}`,
        "content-type": "application/json",
        ...(method === "POST" ? { "idempotency-key": randomUUID() } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (response.status !== 200)
      throw new Error(`${method} ${path}: ${response.status.toString()} ${JSON.stringify(answer)}`);
    return answer as T;
  }

  /** A call that accepts a request. @returns its id. */
  async accept(app: App, path: string, body: Body = {}, method = "POST"): Promise<string> {
    return (await this.call<{ request_id: string }>(app, method, path, body)).request_id;
  }

  /** Mines until the request is final. */
  async final(app: App, id: string): Promise<Body> {
    let request: Body = {};
    await this.until(`request ${id} is final`, async () => {
      request = await this.call(app, "GET", `/v1/requests/${id}`);
      if (request["status"] === "completed" || request["status"] === "failed") return true;
      await this.mine(2);
      return false;
    });
    return request;
  }

  /** A request from its acceptance to its success. */
  async completed(app: App, path: string, body: Body = {}, method = "POST"): Promise<Body> {
    const request = await this.final(app, await this.accept(app, path, body, method));
    if (request["status"] !== "completed") throw new Error(`${path} failed: ${JSON.stringify(request)}`);
    return request;
  }

  async mine(blocks: number): Promise<void> {
    for (let mined = 0; mined < blocks; mined++) await this.node.mine();
  }

  /** @param rows a table and a condition. */
  async count(rows: string): Promise<number> {
    return (await this.#records.one<{ n: number }>(`select count(*) as n from ${rows}`)).n;
  }

  /** @throws when the condition does not hold in time. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    console.log(`${new Date().toISOString()} until ${what}`);
    await until(what, holds);
  }
}
