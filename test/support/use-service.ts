import type { JsonRpcProvider } from "ethers";
import type { Logger } from "pino";

import type { Service } from "../../api/context/service.ts";
import { freePort } from "../../scripts/nodes/free-port.ts";
import { createApp } from "../../api/operator/create-app.ts";
import { ApiClient } from "./api-client.ts";
import { Cleanups } from "./cleanups.ts";
import { createTestDatabase, type DatabasePlace } from "./database.ts";
import { TEST_ENGINE } from "./engine.ts";
import { temporaryFolder } from "./folder.ts";
import { startNode, type TestNode } from "./node.ts";
import { TestProcess } from "./process.ts";
import { type Interception, type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { createAppIn, startTestService } from "./service.ts";
import { borrowNode } from "./shared-node.ts";

export type Settings = Record<string, string>;

export interface ServiceOptions {
  /** Settings by the names of their environment variables, for every start. */
  settings?: Settings;
  /** "file": all tests of the `describe` block use one service. "test": each test gets a new one. Default "file". */
  per?: "file" | "test";
  /** "shared": the node of all test files, with an empty chain. "own": for a test that stops the node. Default "shared". */
  node?: "shared" | "own";
  /** Name of the hard fork whose rules the node applies. The node is then the test's own. */
  hardfork?: string;
  /** Puts a proxy between the service and the node, whose answers a test can replace by `intercept`. */
  proxy?: boolean;
  /** False: the test starts the service, in this process by `start` or in another with `env`. */
  start?: boolean;
  logger?: Logger;
}

/**
 * Gives the tests of a `describe` block a node, an empty data folder, the service on both, and an app that calls it.
 * Registers the hooks for set-up and tear-down itself.
 */
export function useService(options: ServiceOptions = {}): ServiceFixture {
  const fixture = new ServiceFixture(options);
  const perTest = options.per === "test";
  // The node outlives the tests of the block even when the service does not.
  before("start a node", async () => {
    await fixture.openNode();
  });
  (perTest ? beforeEach : before)("start the service", async () => {
    await fixture.open();
  });
  afterEach("let the node answer again", () => {
    fixture.intercept = () => undefined;
  });
  (perTest ? afterEach : after)("stop the service", () => fixture.close());
  after("stop the node", () => fixture.closeNode());
  return fixture;
}

export class ServiceFixture {
  /** Replaces answers of the node until the end of the test; needs the option `proxy`. */
  intercept: Interception = () => undefined;
  /** Calls the service as the app, also after the service has started again. */
  readonly api = new ApiClient(() => ({ baseUrl: this.baseUrl, token: this.app.token }));
  readonly #options: ServiceOptions;
  readonly #nodeCleanups = new Cleanups();
  readonly #cleanups = new Cleanups();
  #node: TestNode | null = null;
  #proxy: RpcProxy | null = null;
  #folder: string | null = null;
  #database: DatabasePlace | null = null;
  #service: (Service & { baseUrl: string }) | null = null;
  #processUrl: string | null = null;
  /** Every process gets the same one: it is a part of the URIs of hosted metadata. */
  #port: number | null = null;
  #app: { appId: string; token: string } | null = null;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  get node(): TestNode {
    return present(this.#node, "node");
  }

  get provider(): JsonRpcProvider {
    return this.node.provider;
  }

  /** The service's DATA_DIR. */
  get folder(): string {
    return present(this.#folder, "data folder");
  }

  /** The service's DATABASE_URL. */
  get databaseUrl(): string {
    return this.database.url;
  }

  get database(): DatabasePlace {
    return present(this.#database, "database");
  }

  /** Settings that another process needs to work on the same chain and data. */
  get env(): Settings {
    const rpcUrl = this.#proxy?.url ?? this.node.url;
    // A SQLite file is where the service expects it.
    const database = TEST_ENGINE === "sqlite" ? {} : { DATABASE_URL: this.databaseUrl };
    return { PORT: "0", RPC_URL: rpcUrl, DATA_DIR: this.folder, ...database, ...this.#options.settings };
  }

  /** The service in this process. */
  get service(): Service & { baseUrl: string } {
    return present(this.#service, "running service");
  }

  /** Where the service answers: the one in this process, else the process that `startProcess` started last. */
  get baseUrl(): string {
    return this.#service?.baseUrl ?? present(this.#processUrl, "running service");
  }

  /** The app that `api` belongs to. It stays the same when the service starts again. */
  get app(): { appId: string; token: string } {
    return present(this.#app, "app");
  }

  /** A client for one more app. */
  async createApp(name: string): Promise<ApiClient> {
    const { token } = await createApp(this.service, name);
    return new ApiClient(() => ({ baseUrl: this.baseUrl, token }));
  }

  /** Starts the service on the data of the folder. @param settings in addition to those of the options. */
  async start(settings: Settings = {}): Promise<void> {
    if (this.#service !== null) throw new Error("The service runs already.");
    const { RPC_URL: rpcUrl = "", DATA_DIR: dataDir = "", ...env } = this.env;
    const { logger } = this.#options;
    this.#service = await startTestService({
      rpcUrl,
      dataDir,
      env: { ...env, ...settings },
      ...(logger === undefined ? {} : { logger }),
    });
    this.#app ??= await createApp(this.#service, "test");
  }

  /**
   * Starts a node that continues the node's chain under the rules of another hard fork, as after a hard fork of a real
   * chain. The service, if it runs, starts again with the new node.
   */
  async activate(hardfork: string): Promise<void> {
    if (this.#proxy !== null) throw new Error("The proxy stays at the first node.");
    const running = this.#service !== null;
    await this.stop();
    const next = await startNode({ hardfork, forkUrl: this.node.url });
    this.#nodeCleanups.add(() => next.stop());
    this.#node = next;
    if (running) await this.start();
  }

  /** Stops the service. Its data stays. Does nothing when it does not run. */
  async stop(): Promise<void> {
    const service = this.#service;
    this.#service = null;
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
    this.#app ??= await createAppIn(this.databaseUrl, "test");
    return process;
  }

  /** As `startProcess`, but does not wait: for a start that fails. @param options for Node. */
  spawn(settings: Settings = {}, options: string[] = []): TestProcess {
    const process = new TestProcess([...options, "api/main.ts"], { ...this.env, ...settings });
    this.#cleanups.add(() => process.end("SIGKILL"));
    return process;
  }

  /** For `useService` only, as the three below. */
  async openNode(): Promise<void> {
    const { node: kind, hardfork } = this.#options;
    const rules = hardfork === undefined ? {} : { hardfork };
    const node = await (kind === "own" || hardfork !== undefined ? startNode(rules) : borrowNode());
    this.#node = node;
    this.#nodeCleanups.add(() => node.stop());
    if (this.#options.proxy !== true) return;
    const proxy = await startRpcProxy(node.url);
    proxy.intercept = (call) => this.intercept(call);
    this.#proxy = proxy;
    this.#nodeCleanups.add(() => proxy.stop());
  }

  async open(): Promise<void> {
    const folder = await temporaryFolder();
    this.#folder = folder.path;
    this.#cleanups.add(() => folder.remove());
    const database = await createTestDatabase({ folder: folder.path });
    this.#database = database;
    this.#cleanups.add(() => database.remove());
    this.#cleanups.add(() => this.stop());
    if (this.#options.start !== false) await this.start();
  }

  async close(): Promise<void> {
    await this.#cleanups.run();
    this.#folder = null;
    this.#database = null;
    this.#app = null;
    this.#processUrl = null;
  }

  async closeNode(): Promise<void> {
    await this.#nodeCleanups.run();
    this.#node = null;
    this.#proxy = null;
  }
}

function present<T>(value: T | null, what: string): T {
  if (value === null) throw new Error(`There is no ${what} here: see the options of useService.`);
  return value;
}
