import type { Logger } from "pino";

import type { Limits } from "../../api/config/limits.ts";
import type { CollectionStorage } from "../../api/domain/command.ts";
import { createApp } from "../../api/operate/apps.ts";
import { freePort } from "../../scripts/scene/loopback.ts";
import { NodeProcess } from "../../scripts/scene/node.ts";
import { startRpcProxy } from "../../scripts/scene/rpc-proxy.ts";
import { Cleanups, createAppIn } from "../../scripts/scene/scene.ts";
import { createTestDatabase } from "./database.ts";
import { temporaryFolder } from "./folder.ts";
import { startNode } from "./node.ts";
import { TestProcess } from "./process.ts";
import { ServiceFixture, type Settings, startTestService, type Tuned } from "./service.ts";
import { borrowNode, deployInto } from "./shared-node.ts";
import { putTestKeys } from "./test-keys.ts";

export interface ServiceOptions {
  /** Settings by the names of their environment variables, for every start. */
  settings?: Settings;
  /** Limits that no setting changes, for each start in this process. */
  limits?: Partial<Limits>;
  /** The same for what is not a limit. */
  tuned?: Tuned;
  /** "file": all tests of the `describe` block use one service. "test": each gets a new one, and its chain. Default "file". */
  per?: "file" | "test";
  /**
   * "deployed": the node that test files use one after the other, with the service's contracts on its chain. "empty": the same
   * node with an empty chain, on which the service starts as for the first time. "own": for a test that stops the node.
   * Default "deployed".
   */
  node?: "deployed" | "empty" | "own";
  /** Storage of the ERC721 collections that the contracts on an empty chain make. Default: what the service deploys. */
  storage?: CollectionStorage;
  /** Name of the hard fork whose rules the node applies. The node is then the test's own. */
  hardfork?: string;
  /** Puts a proxy between the service and the node, whose answers a test can replace by `intercept`. */
  proxy?: boolean;
  /** False: the test starts the service, in this process by `start` or in another with `env`. */
  start?: boolean;
  logger?: Logger;
}

/** A service of the tests' own: they may give it settings, and stop and start it. `intercept` needs the option `proxy`. */
export class OwnService extends ServiceFixture {
  readonly #options: ServiceOptions;
  readonly #nodeCleanups = new Cleanups();
  readonly #cleanups = new Cleanups();
  #processUrl: string | null = null;
  /** Every process gets the same one: it is a part of the URIs of hosted metadata. */
  #port: number | null = null;

  constructor(options: ServiceOptions) {
    super();
    this.#options = options;
  }

  /** Where the service answers: the one in this process, else the process that `startProcess` started last. */
  override get baseUrl(): string {
    return this.parts.service?.baseUrl ?? this.#processUrl ?? this.service.baseUrl;
  }

  override get env(): Settings {
    return { ...super.env, ...this.#options.settings };
  }

  /** Starts the service on the data of the folder. @param settings in addition to those of the options, and so `tuned`. */
  async start(settings: Settings = {}, tuned: Tuned = {}): Promise<void> {
    if (this.parts.service !== undefined) throw new Error("The service runs already.");
    const { RPC_URL: rpcUrl = "", DATA_DIR: dataDir = "", ...env } = this.env;
    const { logger, limits = {} } = this.#options;
    this.parts.service = await startTestService({
      rpcUrl,
      dataDir,
      limits,
      tuned: { ...this.#options.tuned, ...tuned },
      env: { ...env, ...settings },
      ...(logger === undefined ? {} : { logger }),
    });
    this.parts.app ??= await createApp(this.service, "test");
  }

  /**
   * Starts a node that continues the node's chain under the rules of another hard fork, as after a hard fork of a real
   * chain. The service, if it runs, starts again with the new node.
   */
  async activate(hardfork: string): Promise<void> {
    if (this.parts.proxy !== undefined) throw new Error("The proxy stays at the first node.");
    const running = this.parts.service !== undefined;
    await this.stop();
    const next = await NodeProcess.continuing(this.node, hardfork);
    this.#nodeCleanups.add(() => next.stop());
    this.parts.node = next;
    if (running) await this.start();
  }

  /** Stops the service. Its data stays. Does nothing when it does not run. */
  async stop(): Promise<void> {
    const { service } = this.parts;
    delete this.parts.service;
    await service?.stop();
  }

  async restart(settings: Settings = {}): Promise<void> {
    await this.stop();
    await this.start(settings);
  }

  /**
   * Starts the service in a separate process, and waits until it answers. After that, `api` calls it. A process that
   * still runs at the end is killed. @param options for Node.
   */
  async startProcess(settings: Settings = {}, options: string[] = []): Promise<TestProcess> {
    this.#port ??= await freePort();
    const process = this.spawn({ ...settings, PORT: this.#port.toString() }, options);
    await process.printed(/"msg":"serving"/);
    this.#processUrl = `http://127.0.0.1:${this.#port.toString()}`;
    this.parts.app ??= await createAppIn(this.databaseUrl, "test");
    return process;
  }

  /** Starts processes that answer calls, beside each other, and waits until they do. They are killed at the end. */
  async startApis(count: number, settings: Settings = {}): Promise<{ processes: TestProcess[]; urls: string[] }> {
    const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
    const processes = ports.map((port) => this.spawn({ ROLES: "api", ...settings, PORT: port.toString() }));
    for (const process of processes) await process.printed(/"msg":"serving"/);
    return { processes, urls: ports.map((port) => `http://127.0.0.1:${port.toString()}`) };
  }

  /** As `startProcess`, but does not wait: for a start that fails. @param options for Node. */
  spawn(settings: Settings = {}, options: string[] = []): TestProcess {
    const process = new TestProcess([...options, "api/main.ts"], { ...this.env, ...settings });
    this.#cleanups.add(() => process.end("SIGKILL"));
    return process;
  }

  /** For `useService` only, as the ones below. */
  async openNode(): Promise<void> {
    const { node: kind = "deployed", hardfork } = this.#options;
    const rules = hardfork === undefined ? {} : { hardfork };
    const borrowed = kind === "own" || hardfork !== undefined ? null : await borrowNode(kind);
    const node = borrowed ?? (await startNode(rules));
    this.#nodeCleanups.add(() => node.stop());
    const deployments = borrowed?.deployments ?? null;
    this.parts = { node, ...(deployments === null ? {} : { deployments }) };
    if (this.#options.proxy !== true) return;
    const proxy = await startRpcProxy(node.url);
    this.parts.proxy = proxy;
    this.#nodeCleanups.add(() => proxy.stop());
  }

  async open(): Promise<void> {
    const folder = await temporaryFolder();
    this.parts.folder = folder.path;
    this.#cleanups.add(() => folder.remove());
    const { storage } = this.#options;
    if (storage !== undefined) this.parts.deployments = await deployInto(folder.path, this.node.url, storage);
    // A service on an empty chain starts as for the first time, with new keys.
    if (this.#options.node !== "empty") await putTestKeys(folder.path);
    const database = await createTestDatabase({ folder: folder.path });
    this.parts.database = database;
    this.#cleanups.add(() => database.remove());
    this.#cleanups.add(() => this.stop());
    if (this.#options.start !== false) await this.start();
  }

  async close(): Promise<void> {
    await this.#cleanups.run();
    this.#processUrl = null;
  }

  async closeNode(): Promise<void> {
    await this.#nodeCleanups.run();
    this.parts = {};
  }
}
