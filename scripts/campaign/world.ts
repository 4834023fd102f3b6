import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import BetterSqlite3 from "better-sqlite3";
import type { JsonRpcSigner } from "ethers";

import { createApp } from "../../api/operator/create-app.ts";
import { openDatabase } from "../../api/store/db/database.ts";
import { PlainERC721__factory, ProgrammableReceiver__factory } from "../../types/ethers-contracts/index.js";
import { freePort } from "../nodes/free-port.ts";
import { type NodeKind, NodeProcess } from "../nodes/node-process.ts";
import { pause } from "../processes/pause.ts";
import { ApiProcess } from "./api-process.ts";
import { RetryingClient } from "./client.ts";
import { FaultProxy } from "./proxy.ts";
import type { Hardfork } from "./options.ts";
import { Random } from "./random.ts";
import { Receiver } from "./receiver.ts";

/** Confirmations until a block is final here. A shallower reorg must leave no trace. */
export const CONFIRMATIONS = 4;
const WALLETS = 6;
/** Modes of `ProgrammableReceiver`. */
const [REVERT_WITH_REASON, ACCEPT_SIMULATED] = [2, 8];

/** A node, a fault proxy, the service as a process, and an app with wallets and collections. */
export class World {
  #node: NodeProcess;
  /** The node whose chain the present node continues. */
  #before: NodeProcess | null = null;
  readonly proxy: FaultProxy;
  readonly folder: string;
  readonly random: Random;
  readonly receiver: Receiver;
  readonly #env: Record<string, string>;
  #api: ApiProcess | null = null;
  client!: RetryingClient;
  wallets: string[] = [];
  erc721 = "";
  erc1155 = "";
  /** A contract that the service did not deploy. The wallets own its tokens. */
  foreign = "";
  /** Contracts that refuse tokens: one always, the other only in a block, not in a simulation. */
  refusing = { always: "", onChain: "" };

  private constructor(
    node: NodeProcess,
    proxy: FaultProxy,
    receiver: Receiver,
    folder: string,
    random: Random,
    port: number,
  ) {
    this.#node = node;
    this.proxy = proxy;
    this.receiver = receiver;
    this.folder = folder;
    this.random = random;
    this.#env = {
      PORT: port.toString(),
      RPC_URL: proxy.url,
      DATA_DIR: folder,
      DEPLOYMENTS_DIR: join(folder, "deployments"),
      CONFIRMATIONS: CONFIRMATIONS.toString(),
      LANES: "2",
      RATE_LIMIT_PER_MINUTE: "1000000",
      REBROADCAST_SECONDS: "1",
      // A quota too high to reach. It makes the indexer ask for the receipt of every batch.
      APP_GAS_PER_DAY: "1000000000000",
      LOG_LEVEL: "info",
    };
  }

  static async create(kind: NodeKind, seed: number, hardfork: Hardfork | null): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), "moneta-campaign-"));
    // The contracts do not fit into transactions under the rules of Amsterdam: they are deployed before.
    const before = hardfork === "amsterdam" ? await NodeProcess.start(kind, folder, { hardfork: "osaka" }) : null;
    const rules = hardfork === null || before !== null ? {} : { hardfork };
    const node = before ?? (await NodeProcess.start(kind, folder, rules));
    const proxy = await FaultProxy.start(node.url, seed);
    const world = new World(node, proxy, await Receiver.start(), folder, new Random(seed), await freePort());
    await world.start();
    if (before !== null) await world.#activate("amsterdam");
    await world.#setUpApp();
    return world;
  }

  get node(): NodeProcess {
    return this.#node;
  }

  get databaseFile(): string {
    return join(this.folder, "moneta.sqlite");
  }

  get api(): ApiProcess {
    if (this.#api === null) throw new Error("the service is not running");
    return this.#api;
  }

  /** Starts the service. `extra` settings may name a crash point. */
  async start(extra: Record<string, string> = {}): Promise<void> {
    this.#api = await ApiProcess.start({ ...this.#env, ...extra }, join(this.folder, "api.log"));
  }

  /** Starts a second process on the same database, without an API. */
  async startSecond(): Promise<ApiProcess> {
    const env = { ...this.#env, ROLES: "relayer,indexer,webhooks" };
    return ApiProcess.start(env, join(this.folder, "second.log"));
  }

  /** Freezes the service's process, but not inside a transaction, because that would block the database. */
  async freeze(): Promise<void> {
    for (;;) {
      await pause(this.api.pid);
      if (this.#canWrite()) return;
      this.api.signal("SIGCONT");
      await wait(10);
    }
  }

  #canWrite(): boolean {
    const database = new BetterSqlite3(this.databaseFile, { timeout: 0 });
    try {
      database.exec("begin immediate; rollback");
      return true;
    } catch {
      return false;
    } finally {
      database.close();
    }
  }

  /** Sum of the lanes' fencing tokens. It grows each time a process takes over a lane. */
  fences(): number {
    const database = new BetterSqlite3(this.databaseFile, { readonly: true });
    try {
      return database.prepare<[], { n: number }>("select sum(lease_fence) n from lanes").get()?.n ?? 0;
    } finally {
      database.close();
    }
  }

  /** The service's log so far. */
  log(): Promise<string> {
    return readFile(join(this.folder, "api.log"), "utf8");
  }

  async restart(extra: Record<string, string> = {}): Promise<void> {
    await this.api.kill();
    await this.start(extra);
  }

  /** Starts a node that continues the chain under the rules of another hard fork, and the service with it. */
  async #activate(hardfork: Hardfork): Promise<void> {
    await this.api.kill();
    this.#before = this.#node;
    this.#node = await NodeProcess.start("hardhat", this.folder, { hardfork, forkUrl: this.#before.url });
    this.proxy.target = this.#node.url;
    await this.start();
  }

  async mine(blocks = 1): Promise<void> {
    for (let mined = 0; mined < blocks; mined++) await this.node.provider.send("evm_mine", []);
  }

  async stop(keep: boolean): Promise<void> {
    if (this.#api?.running === true) await this.#api.kill();
    await this.proxy.stop();
    await this.node.stop();
    await this.#before?.stop();
    await this.receiver.stop();
    if (!keep) await rm(this.folder, { recursive: true, force: true });
  }

  async #setUpApp(): Promise<void> {
    const database = await openDatabase(`file:${this.databaseFile}`);
    const { token } = await createApp({ database }, "campaign");
    await database.close();
    this.client = new RetryingClient(`http://127.0.0.1:${String(this.#env["PORT"])}`, token, this.random);
    await this.client.ok("PUT", "/v1/webhook", { url: this.receiver.url });
    for (let index = 0; index < WALLETS; index++) {
      this.wallets.push(String((await this.client.ok("POST", "/v1/accounts", {}))["address"]));
    }
    this.erc721 = await this.#collection("ERC721");
    this.erc1155 = await this.#collection("ERC1155");
    const outsider = await this.node.provider.getSigner(5);
    this.refusing = {
      always: await refusingContract(outsider, REVERT_WITH_REASON),
      onChain: await refusingContract(outsider, ACCEPT_SIMULATED),
    };
    const plain = await (await new PlainERC721__factory(outsider).deploy()).waitForDeployment();
    this.foreign = await plain.getAddress();
    for (let id = 1; id <= 3 * WALLETS; id++) {
      await (await plain.mint(this.wallets[id % WALLETS] ?? "", id)).wait();
    }
  }

  async #collection(type: string): Promise<string> {
    const id = await this.client.accept("/v1/collections", { type, name: "Campaign", symbol: "CMP" });
    for (;;) {
      const request = await this.client.ok("GET", `/v1/requests/${String(id)}`);
      if (request["status"] === "completed") return String(request["nft_collection"]);
      if (request["status"] === "failed") throw new Error(JSON.stringify(request));
      await this.mine();
    }
  }
}

async function refusingContract(deployer: JsonRpcSigner, mode: number): Promise<string> {
  const receiver = await (await new ProgrammableReceiver__factory(deployer).deploy()).waitForDeployment();
  await (await receiver.program(mode)).wait();
  return receiver.getAddress();
}
