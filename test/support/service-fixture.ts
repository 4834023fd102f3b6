import { type JsonRpcProvider, JsonRpcSigner } from "ethers";

import type { Service } from "../../api/context/service.ts";
import { createApp } from "../../api/operate/apps.ts";
import { readMeta } from "../../api/store/db/meta.ts";
import { ApiClient } from "./api-client.ts";
import type { DatabasePlace } from "./database.ts";
import { TEST_ENGINE } from "./engine.ts";
import { eventually } from "./eventually.ts";
import type { TestNode } from "./node.ts";
import type { Interception } from "../../scripts/scene/rpc-proxy.ts";

export type Settings = Record<string, string>;

/** A running service, as tests see it: the service with its node and data, and an app that calls it. */
export abstract class ServiceFixture {
  /** Calls the service as the app, also after the service has started again. */
  readonly api = new ApiClient(() => ({ baseUrl: this.baseUrl, token: this.app.token }));

  abstract get node(): TestNode;
  /** The service's DATA_DIR. */
  abstract get folder(): string;
  abstract get database(): DatabasePlace;
  /** The service in this process. */
  abstract get service(): Service & { baseUrl: string };
  /** The app that `api` belongs to. */
  abstract get app(): { appId: string; token: string };
  /** Replaces answers of the node until the end of the test. null: the node answers. */
  abstract intercept: Interception | null;
  /** Settings that another process needs to work on the same chain and data. */
  abstract get env(): Settings;

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
  async lastErrorOf(worker: string): Promise<string | null> {
    return (await this.service.health()).find(({ name }) => name === worker)?.lastError ?? null;
  }

  /** Uses the key of any account, with funds, outside of the service. */
  async impersonate(address: string): Promise<JsonRpcSigner> {
    await this.provider.send("hardhat_impersonateAccount", [address]);
    await this.provider.send("hardhat_setBalance", [address, `0x${(10n ** 18n).toString(16)}`]);
    return new JsonRpcSigner(this.provider, address);
  }

  /** The name of a new app: names are unique. */
  protected nameFor(name: string): string {
    return name;
  }
}

/** Where the service's database is. A SQLite file is where the service expects it. */
export function databaseSettings(database: DatabasePlace): Settings {
  return TEST_ENGINE === "sqlite" ? {} : { DATABASE_URL: database.url };
}

export function present<T>(value: T | null, what: string): T {
  if (value === null) throw new Error(`There is no ${what} here: see the options of useService.`);
  return value;
}
