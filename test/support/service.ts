import { type JsonRpcProvider, JsonRpcSigner } from "ethers";
import { type Logger, pino } from "pino";

import type { Limits } from "../../api/config/limits.ts";
import { parseSettings, type Settings as Parsed } from "../../api/config/settings.ts";
import { type Service, startService } from "../../api/context/service.ts";
import { createApp } from "../../api/operate/apps.ts";
import { readMeta } from "../../api/store/db/meta.ts";
import type { Interception, RpcProxy } from "../../scripts/scene/rpc-proxy.ts";
import { ApiClient } from "./api-client.ts";
import type { DatabasePlace } from "./database.ts";
import { TEST_ENGINE } from "./engine.ts";
import { eventually } from "./eventually.ts";
import type { TestNode } from "./node.ts";
import { FOR_TESTS } from "./process.ts";

export type Settings = Record<string, string>;

/** What no setting changes, and tests do. */
export type Tuned = Partial<Pick<Parsed, "rebroadcastSeconds" | "logQueries">>;

type RunningService = Service & { baseUrl: string };

/** What a fixture has now. */
export interface Parts {
  node: TestNode;
  /** DEPLOYMENTS_DIR, when the node's chain has the service's contracts already. */
  deployments: string;
  /** Between the service and the node. */
  proxy: RpcProxy;
  /** The service's DATA_DIR. */
  folder: string;
  database: DatabasePlace;
  /** The service in this process. */
  service: RunningService;
  /** The app that `api` belongs to. It stays the same when the service starts again. */
  app: { appId: string; token: string };
}

/** The whole service in this process, against a real node and a real database file. */
export async function startTestService(options: {
  rpcUrl: string;
  dataDir: string;
  env?: Settings;
  logger?: Logger;
  limits?: Partial<Limits>;
  tuned?: Tuned;
}): Promise<RunningService> {
  const parsed = parseSettings({
    PORT: "0",
    // The service looks at the chain when it has sent something. On a chain that mines at once that is enough, and an idle
    // service then takes less of the processor than the tests beside it.
    BLOCK_POLL_SECONDS: "1",
    RPC_URL: options.rpcUrl,
    DATA_DIR: options.dataDir,
    ...FOR_TESTS,
    ...options.env,
  });
  const settings = { ...parsed, ...options.tuned, limits: { ...parsed.limits, ...options.limits } };
  const service = await startService(settings, options.logger ?? pino({ level: process.env["TEST_LOG"] ?? "silent" }));
  return { ...service, baseUrl: `http://127.0.0.1:${String(service.port)}` };
}

/** Where the service's database is. A SQLite file is where the service expects it. */
export function databaseSettings(database: DatabasePlace): Settings {
  return TEST_ENGINE === "sqlite" ? {} : { DATABASE_URL: database.url };
}

/** A running service, as tests see it: the service with its node and data, and an app that calls it. */
export abstract class ServiceFixture {
  /** Calls the service as the app, also after the service has started again. */
  readonly api = new ApiClient(() => ({ baseUrl: this.baseUrl, token: this.app.token }));
  parts: Partial<Parts> = {};

  get node(): TestNode {
    return this.part("node");
  }

  get folder(): string {
    return this.part("folder");
  }

  get database(): DatabasePlace {
    return this.part("database");
  }

  get service(): RunningService {
    return this.part("service");
  }

  get app(): Parts["app"] {
    return this.part("app");
  }

  /** Replaces answers of the node until the end of the test. null: the node answers. */
  get intercept(): Interception | null {
    return this.part("proxy").intercept;
  }

  set intercept(interception: Interception | null) {
    this.part("proxy").intercept = interception;
  }

  /** Settings that another process needs to work on the same chain and data. */
  get env(): Settings {
    const { proxy, deployments } = this.parts;
    return {
      PORT: "0",
      RPC_URL: proxy?.url ?? this.node.url,
      DATA_DIR: this.folder,
      ...(deployments === undefined ? {} : { DEPLOYMENTS_DIR: deployments }),
      ...databaseSettings(this.database),
    };
  }

  get baseUrl(): string {
    return this.service.baseUrl;
  }

  get provider(): JsonRpcProvider {
    return this.node.provider;
  }

  /** The service's DATABASE_URL. */
  get databaseUrl(): string {
    return this.database.url;
  }

  /** A client for one more app. */
  async createApp(name: string): Promise<ApiClient> {
    const { token } = await createApp(this.service, this.nameFor(name));
    return new ApiClient(() => ({ baseUrl: this.baseUrl, token }));
  }

  /** What `/readyz` answers, and with which status. */
  async readyz(): Promise<{ status: number; text: string; checks: Record<string, string> }> {
    const answer = await fetch(`${this.baseUrl}/readyz`);
    const text = await answer.text();
    const { checks = {} } = JSON.parse(text) as { checks?: Record<string, string> };
    return { status: answer.status, text, checks };
  }

  /** Waits until a check of `/readyz` says the word. */
  async says(word: string, check: string): Promise<void> {
    await eventually(async () => ((await this.readyz()).checks[check] === word ? true : undefined));
  }

  /** The last block that the indexer has stored. */
  async checkpoint(): Promise<number> {
    return Number(await readMeta(this.service.database.read, "checkpoint"));
  }

  /** Waits until the indexer has stored the block that is the newest now. @returns its number. */
  async caughtUp(): Promise<number> {
    const head = await this.provider.getBlockNumber();
    await eventually(async () => ((await this.checkpoint()) >= head ? true : undefined));
    return head;
  }

  /** Why a worker cannot work, such as `lane 0`; null when it can. */
  lastErrorOf(worker: string): string | null {
    return this.service.workers.find(({ name }) => name === worker)?.worker.lastError ?? null;
  }

  /** Gives an account exactly so many wei. */
  async fund(address: string, wei: bigint): Promise<void> {
    await this.provider.send("hardhat_setBalance", [address, `0x${wei.toString(16)}`]);
  }

  /** Uses the key of any account, with funds, outside of the service. */
  async impersonate(address: string): Promise<JsonRpcSigner> {
    await this.provider.send("hardhat_impersonateAccount", [address]);
    await this.fund(address, 10n ** 18n);
    return new JsonRpcSigner(this.provider, address);
  }

  protected part<Name extends keyof Parts>(name: Name): Parts[Name] {
    const part: Partial<Parts>[Name] = this.parts[name];
    if (part === undefined) throw new Error(`There is no ${name} here: see the options of useService.`);
    return part;
  }

  /** The name of a new app: names are unique. */
  protected nameFor(name: string): string {
    return name;
  }
}
