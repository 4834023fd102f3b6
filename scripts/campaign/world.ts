import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { JsonRpcSigner } from "ethers";

import { createApp } from "../../api/operator/create-app.ts";
import { openDatabase } from "../../api/store/db/database.ts";
import { PlainERC721__factory, ProgrammableReceiver__factory } from "../../types/ethers-contracts/index.js";
import { type NodeKind, NodeProcess } from "../nodes/node-process.ts";
import { RetryingClient } from "./client.ts";
import { Follower } from "./follower.ts";
import { OneProcess } from "./one-process.ts";
import type { Engine, Hardfork } from "./options.ts";
import { FaultProxy } from "./proxy.ts";
import { Random } from "./random.ts";
import { Receiver } from "./receiver.ts";
import { RoleProcesses } from "./role-processes.ts";
import type { Service } from "./service.ts";

/** Confirmations until a block is final here. A shallower reorg must leave no trace. */
export const CONFIRMATIONS = 4;

const SETTINGS = {
  CONFIRMATIONS: CONFIRMATIONS.toString(),
  LANES: "2",
  RATE_LIMIT_PER_MINUTE: "1000000",
  REBROADCAST_SECONDS: "1",
  // A quota too high to reach. It makes the indexer ask for the receipt of every batch.
  APP_GAS_PER_DAY: "1000000000000",
  LOG_LEVEL: "info",
};

interface WorldOptions {
  kind: NodeKind;
  engine: Engine;
  seed: number;
  hardfork: Hardfork | null;
}

const WALLETS = 6;
/** Modes of `ProgrammableReceiver`. */
const [REVERT_WITH_REASON, ACCEPT_SIMULATED] = [2, 8];

/** A node, a fault proxy, the service, and an app with wallets and collections. */
export class World {
  #node: NodeProcess;
  /** The node whose chain the present node continues. */
  #before: NodeProcess | null = null;
  readonly #seed: number;
  readonly proxy: FaultProxy;
  readonly folder: string;
  readonly random: Random;
  readonly receiver: Receiver;
  readonly service: Service;
  client!: RetryingClient;
  /** null until the app exists. */
  follower: Follower | null = null;
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
    service: Service,
    folder: string,
    random: Random,
    seed: number,
  ) {
    this.#node = node;
    this.proxy = proxy;
    this.receiver = receiver;
    this.service = service;
    this.folder = folder;
    this.random = random;
    this.#seed = seed;
  }

  static async create({ kind, engine, seed, hardfork }: WorldOptions): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), "moneta-campaign-"));
    // The contracts do not fit into transactions under the rules of Amsterdam: they are deployed before.
    const before = hardfork === "amsterdam" ? await NodeProcess.start(kind, folder, { hardfork: "osaka" }) : null;
    const rules = hardfork === null || before !== null ? {} : { hardfork };
    const node = before ?? (await NodeProcess.start(kind, folder, rules));
    const proxy = await FaultProxy.start(node.url, seed);
    const random = new Random(seed);
    const settings = {
      ...SETTINGS,
      RPC_URL: proxy.url,
      DEPLOYMENTS_DIR: join(folder, "deployments"),
      // The processes start often.
      NODE_COMPILE_CACHE: join(folder, "compiled"),
    };
    const service =
      engine === "sqlite"
        ? await OneProcess.create(folder, settings)
        : await RoleProcesses.create(folder, settings, random);
    const world = new World(node, proxy, await Receiver.start(), service, folder, random, seed);
    try {
      await service.start();
      if (before !== null) await world.#activate("amsterdam");
      await world.#setUpApp();
      return world;
    } catch (error) {
      await world.stop(true);
      throw error;
    }
  }

  get node(): NodeProcess {
    return this.#node;
  }

  /** The service of a world on SQLite. */
  get sqlite(): OneProcess {
    if (this.service instanceof OneProcess) return this.service;
    throw new Error("the service does not use SQLite");
  }

  /** The service of a world on PostgreSQL. */
  get postgres(): RoleProcesses {
    if (this.service instanceof RoleProcesses) return this.service;
    throw new Error("the service does not use PostgreSQL");
  }

  /** Starts a node that continues the chain under the rules of another hard fork, and the service with it. */
  async #activate(hardfork: Hardfork): Promise<void> {
    await this.service.kill();
    this.#before = this.#node;
    this.#node = await NodeProcess.start("hardhat", this.folder, { hardfork, forkUrl: this.#before.url });
    this.proxy.target = this.#node.url;
    await this.service.start();
  }

  async mine(blocks = 1): Promise<void> {
    for (let mined = 0; mined < blocks; mined++) await this.node.mine();
  }

  async stop(keep: boolean): Promise<void> {
    await this.follower?.stop();
    await this.service.dispose();
    await this.proxy.stop();
    await this.node.stop();
    await this.#before?.stop();
    await this.receiver.stop();
    if (!keep) await rm(this.folder, { recursive: true, force: true });
  }

  async #setUpApp(): Promise<void> {
    const database = await openDatabase(this.service.databaseUrl);
    const { token } = await createApp({ database }, "campaign");
    await database.close();
    this.client = new RetryingClient(this.service.apiUrls, token, this.random);
    // Draws of its own, so that the calls of the load stay the same for a seed.
    this.follower = new Follower(this.service.apiUrls, token, new Random(this.#seed));
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
