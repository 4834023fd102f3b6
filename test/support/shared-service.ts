import type { Service } from "../../api/context/service.ts";
import { createApp } from "../../api/operate/apps.ts";
import { Cleanups } from "../../scripts/scene/scene.ts";
import { createTestDatabase, type DatabasePlace } from "./database.ts";
import { atEndOfRun } from "../../scripts/scene/end-of-run.ts";
import { eventually } from "./eventually.ts";
import { temporaryFolder } from "./folder.ts";
import { startNode, type TestNode } from "./node.ts";
import { type Interception, type RpcProxy, startRpcProxy } from "../../scripts/scene/rpc-proxy.ts";
import { startTestService } from "./service.ts";
import { databaseSettings, present, ServiceFixture, type Settings } from "./service-fixture.ts";
import { putTestKeys } from "./test-keys.ts";

/*
 * One service for the test files of a process, on a node of its own whose chain goes on from file to file. Each `describe` block
 * that uses it gets an app of its own.
 */

interface Shared {
  node: TestNode;
  proxy: RpcProxy;
  folder: string;
  database: DatabasePlace;
  service: Service & { baseUrl: string };
  stop(): Promise<void>;
}

/** How long the service may need to recover from what a test did, in milliseconds. */
const RECOVERY = 60_000;

let starting: Promise<Shared> | null = null;
/** How many apps got each name. */
const named = new Map<string, number>();

async function start(): Promise<Shared> {
  const cleanups = new Cleanups();
  try {
    const node = await startNode();
    cleanups.add(() => node.stop());
    const proxy = await startRpcProxy(node.url);
    cleanups.add(() => proxy.stop());
    const folder = await temporaryFolder();
    cleanups.add(() => folder.remove());
    await putTestKeys(folder.path);
    const database = await createTestDatabase({ folder: folder.path });
    cleanups.add(() => database.remove());
    const env = { ...databaseSettings(database), METRICS_PORT: "0" };
    const service = await startTestService({ rpcUrl: proxy.url, dataDir: folder.path, env });
    cleanups.add(() => service.stop());
    // After what it needs, such as a database server, has registered its own end: that comes later.
    atEndOfRun(stopShared);
    return { node, proxy, folder: folder.path, database, service, stop: () => cleanups.run() };
  } catch (error) {
    await cleanups.run();
    throw error;
  }
}

/** Stops it, if it runs. The next block that uses it starts a new one. */
async function stopShared(): Promise<void> {
  const shared = await starting;
  starting = null;
  await shared?.stop();
}

/** What is wrong with the service, for the block that leaves it; null when the next block can use it. */
async function damageOf({ node, service }: Shared): Promise<string | null> {
  if ((await node.provider.send("hardhat_getAutomine", [])) !== true) return "the node does not mine by itself";
  const errors = async () => (await service.health()).filter(({ lastError }) => lastError !== null);
  const recovered = eventually(async () => ((await errors()).length === 0 ? null : undefined), RECOVERY);
  return recovered.catch(async () => {
    const failing = (await errors()).map(({ name, lastError }) => `${name} (${lastError ?? ""})`);
    return `these workers fail: ${failing.join(", ")}`;
  });
}

export class SharedFixture extends ServiceFixture {
  #shared: Shared | null = null;
  #app: { appId: string; token: string } | null = null;

  override get node(): TestNode {
    return this.#use.node;
  }

  override get folder(): string {
    return this.#use.folder;
  }

  override get database(): DatabasePlace {
    return this.#use.database;
  }

  override get service(): Service & { baseUrl: string } {
    return this.#use.service;
  }

  override get app(): { appId: string; token: string } {
    return present(this.#app, "app");
  }

  override get intercept(): Interception | null {
    return this.#use.proxy.intercept;
  }

  override set intercept(interception: Interception | null) {
    this.#use.proxy.intercept = interception;
  }

  override get env(): Settings {
    const { proxy, folder, database } = this.#use;
    return { PORT: "0", RPC_URL: proxy.url, DATA_DIR: folder, ...databaseSettings(database) };
  }

  /** Earlier blocks may have given apps the same name. */
  protected override nameFor(name: string): string {
    const count = (named.get(name) ?? 0) + 1;
    named.set(name, count);
    return count === 1 ? name : `${name} ${count.toString()}`;
  }

  get #use(): Shared {
    return present(this.#shared, "service");
  }

  /** From now on, `api` belongs to a new app: for tests that look at all that an app has. */
  async newApp(): Promise<void> {
    this.#app = await createApp(this.service, this.nameFor("test"));
  }

  /** For `useService` only, as the one below. */
  async open(): Promise<void> {
    try {
      this.#shared = await (starting ??= start());
    } catch (error) {
      starting = null;
      throw error;
    }
    await this.newApp();
  }

  /** @throws when the block leaves the service in a state that would fail the tests of the next one. */
  async close(): Promise<void> {
    const shared = this.#shared;
    if (shared === null) return;
    shared.proxy.intercept = null;
    [this.#shared, this.#app] = [null, null];
    const damage = await damageOf(shared);
    if (damage === null) return;
    await stopShared();
    throw new Error(
      `The tests of this block damaged the service that test files share: ${damage}. Undo it in afterEach, or give the block a service of its own.`,
    );
  }
}
