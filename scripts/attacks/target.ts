import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

import type { Databases } from "../postgres/databases.ts";
import { residentOf, resetPeak } from "../scene/resident.ts";
import { callFrom, OpenCallers, type RawAnswer, type RawCall } from "../scene/callers.ts";
import { NodeProcess } from "../scene/node.ts";
import { Scene } from "../scene/scene.ts";
import { ServiceProcess } from "../scene/service.ts";

const run = promisify(execFile);

/** Milliseconds between two polls of a request, and within which it must settle. */
const POLL = 100;
const SETTLE_TIMEOUT = 30_000;
/** A service with one role less than usual: nothing here speaks to the IPFS network. */
const ROLES = "api,relayer,indexer,webhooks,media";
/** Milliseconds for which the service rests before its memory counts as idle. */
const REST = 3_000;

export interface App {
  name: string;
  token: string;
  /** Loopback address of its calls. */
  from: string;
}

export interface TargetOptions {
  /** Folder of the project whose service is attacked. */
  checkout: string;
  databases: Databases;
  settings?: Record<string, string>;
  /** Starts another node than an Anvil with blocks of 60 M gas. */
  node?: () => Promise<NodeProcess>;
}

type Json = Record<string, unknown>;

/** A service of a checkout in a process of its own, an app that attacks it, and an app that has nothing to do with that. */
export class Target {
  readonly node: NodeProcess;
  readonly url: string;
  readonly callers: OpenCallers;
  readonly attacker: App;
  readonly other: App;
  readonly #scene: Scene;
  readonly #service: ServiceProcess;
  readonly #checkout: string;
  readonly #env: Record<string, string>;
  /** MiB. */
  #idle = 0;
  #otherMint: Json = {};

  private constructor(
    scene: Scene,
    parts: Pick<Target, "node" | "attacker" | "other"> & { service: ServiceProcess; checkout: string },
    env: Record<string, string>,
  ) {
    this.#scene = scene;
    this.node = parts.node;
    this.attacker = parts.attacker;
    this.other = parts.other;
    this.#service = parts.service;
    this.#checkout = parts.checkout;
    this.#env = env;
    this.url = parts.service.url ?? "";
    this.callers = new OpenCallers(this.url);
  }

  static start({ checkout, databases, settings = {}, node: startNode }: TargetOptions): Promise<Target> {
    return Scene.open("attacks", async (scene) => {
      const { folder } = scene;
      const node = await scene.add(startNode?.() ?? NodeProcess.underLoad());
      const env = {
        RPC_URL: node.url,
        DATA_DIR: folder,
        DATABASE_URL: await databases.create(folder),
        PUBLIC_URL: "http://localhost:3000",
        DEPLOYMENTS_DIR: join(folder, "deployments"),
        PORT: "0",
        ROLES,
        // The limits of rates have attacks of their own.
        RATE_LIMIT_PER_MINUTE: "1000000",
        PUBLIC_RATE_LIMIT_PER_MINUTE: "1000000",
        ...settings,
      };
      const service = await scene.add(ServiceProcess.start(env, join(folder, "service.log"), checkout));
      const app = async (name: string, from: string): Promise<App> => {
        const { token } = await command<{ token: string }>(checkout, env, ["app", "create", name]);
        return { name, token, from };
      };
      const [attacker, other] = [await app("attacker", "127.0.0.2"), await app("other", "127.0.0.1")];
      const target = new Target(scene, { node, service, attacker, other, checkout }, env);
      await target.#prepareOther();
      return target;
    });
  }

  get stopped(): boolean {
    return this.#service.exited;
  }

  /** How the process ended. */
  get end(): string {
    const { exitCode, signalCode } = this.#service.child;
    return signalCode ?? `exit code ${String(exitCode)}`;
  }

  call(
    app: App,
    method: string,
    path: string,
    body?: object | string,
    more: Partial<RawCall> = {},
  ): Promise<RawAnswer> {
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
    const body = { type: "ERC721", name: app.name, symbol: "ATT", ...fields };
    const { request_id: id } = await this.ok<{ request_id: string }>(app, "POST", "/v1/collections", body);
    return String((await this.settled(app, id))["nft_collection"]);
  }

  /** @returns the completed request. @throws when it fails, or is not final in time. */
  async settled(app: App, id: string, timeout = SETTLE_TIMEOUT): Promise<Json> {
    const deadline = performance.now() + timeout;
    for (;;) {
      const { status, text } = await this.call(app, "GET", `/v1/requests/${id}`, undefined, { timeout });
      const request = status === 200 ? (JSON.parse(text) as Json) : {};
      if (request["status"] === "completed") return request;
      if (request["status"] === "failed") throw new Error(`a request failed: ${text.slice(0, 300)}`);
      if (this.stopped) throw new Error("the service stopped");
      if (performance.now() > deadline) throw new Error(`not final within ${(timeout / 1_000).toString()} s`);
      await wait(POLL);
    }
  }

  /** Makes a token for the app. @returns its id and the token. */
  token(app: App): Promise<{ token_id: string; token: string }> {
    return command(this.#checkout, this.#env, ["token", "create", app.name]);
  }

  /** @returns when it was revoked, in milliseconds since 1970. */
  async revoke(tokenId: string): Promise<number> {
    const order = ["token", "revoke", tokenId];
    return Date.parse((await command<{ revoked_at: string }>(this.#checkout, this.#env, order)).revoked_at);
  }

  /** A file in the attacker's app, served under `/ipfs`. @returns its CID. */
  async upload(bytes: number): Promise<string> {
    const answer = await this.call(this.attacker, "POST", "/v1/media", undefined, {
      body: randomBytes(bytes),
      headers: { "content-type": "application/octet-stream" },
    });
    if (answer.status !== 200) throw new Error(`the upload got ${String(answer.status)}: ${answer.text.slice(0, 200)}`);
    return (JSON.parse(answer.text) as { cid: string }).cid;
  }

  /** From now on, the peak of the memory counts. */
  async rest(): Promise<void> {
    await wait(REST);
    this.#idle = (await residentOf(this.#service.pid))?.now ?? 0;
    await resetPeak(this.#service.pid);
  }

  /** MiB of resident memory above that of the idle service, at the peak since `rest`. */
  async peak(): Promise<number> {
    return ((await residentOf(this.#service.pid))?.peak ?? 0) - this.#idle;
  }

  /** A mint of the other app. @returns the seconds until it is completed. @throws when it is not. */
  async otherMints(timeout = SETTLE_TIMEOUT): Promise<number> {
    const started = performance.now();
    const { request_id: id } = await this.ok<{ request_id: string }>(this.other, "POST", "/v1/nfts", this.#otherMint);
    await this.settled(this.other, id, timeout);
    return (performance.now() - started) / 1_000;
  }

  async stop(): Promise<void> {
    this.callers.destroy();
    if (!this.stopped) await this.#service.kill();
    await this.#scene.close();
  }

  async #prepareOther(): Promise<void> {
    const [collection, to] = [await this.collection(this.other), await this.wallet(this.other)];
    this.#otherMint = { collection_address: collection, to_address: to, name: "Other" };
    await this.otherMints();
  }
}

/** Runs a command of the checkout's command line. @returns what it prints as JSON. */
async function command<T>(checkout: string, env: Record<string, string>, args: string[]): Promise<T> {
  const options = { cwd: checkout, env: { PATH: process.env["PATH"], ...env } };
  const { stdout } = await run(process.execPath, ["api/cli/main.ts", ...args, "--json"], options);
  return JSON.parse(stdout) as T;
}
