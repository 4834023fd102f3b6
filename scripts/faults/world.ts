import { join } from "node:path";

import type { JsonRpcSigner } from "ethers";

import { QUOTA_NAMES, type Quotas } from "../../api/domain/quota.ts";
import { PlainERC721__factory } from "../../contracts/generated/factories/mocks/PlainERC721__factory.ts";
import { ProgrammableReceiver__factory } from "../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { anvilBinary } from "../scene/anvil.ts";
import { callFrom, type RawAnswer, type RawCall } from "../scene/callers.ts";
import { FaultProxy } from "../scene/fault-proxy.ts";
import { FaultyNode } from "../scene/faulty-node.ts";
import { type NodeKind, NodeProcess } from "../scene/node.ts";
import { Random } from "../scene/random.ts";
import { createAppIn, Scene } from "../scene/scene.ts";
import { waitFor } from "../scene/until.ts";
import { AppWebhooks } from "./app-webhooks.ts";
import { RetryingClient } from "./client.ts";
import type { Accepted } from "./load.ts";
import { Follower } from "./follower.ts";
import type { Engine, Hardfork } from "./options.ts";
import { Service } from "./service.ts";

/** Confirmations until a block is final here. A shallower reorg must leave no trace. */
export const CONFIRMATIONS = 4;

/** The load makes more calls than these allow by default. */
export const RATES = {
  RATE_LIMIT_PER_MINUTE: "1000000",
  PUBLIC_RATE_LIMIT_PER_MINUTE: "1000000",
  BATCH_ITEMS_PER_MINUTE: "1000000",
};

const SETTINGS = {
  ...RATES,
  CONFIRMATIONS: CONFIRMATIONS.toString(),
  LANES: "2",
  // A quota too high to reach. It makes the indexer ask for the receipt of every batch.
  APP_GAS_PER_DAY: "1000000000000",
  LOG_LEVEL: "info",
};

/** Too high to reach. Each call is compared with them. */
const QUOTAS: Partial<Quotas> = Object.fromEntries(QUOTA_NAMES.map((name) => [name, 1e15]));

interface WorldOptions {
  kind: NodeKind;
  engine: Engine;
  seed: number;
  hardfork?: Hardfork | undefined;
  /** How many nodes the service has. */
  nodes: number;
}

/** A service of one process with the defaults of the chain, and without the proxy in front of the node. */
export interface Alone {
  engine: Engine;
  settings?: Record<string, string>;
  /** Settings of the first start only. */
  atFirst?: Record<string, string>;
  /** Starts another node than the usual one. */
  node?: () => Promise<NodeProcess>;
}

const WALLETS = 6;
/** Modes of `ProgrammableReceiver`. */
const [REVERT_WITH_REASON, ACCEPT_SIMULATED] = [2, 8];

export interface App {
  appId: string;
  token: string;
  /** Loopback address of its calls. */
  from: string;
  client: RetryingClient;
}

/** An app that attacks the service, while the app of the load goes on. */
interface Attacker extends App {
  /** An ERC721 collection of its own, and a wallet. */
  collection: string;
  wallet: string;
  /** Requests of its attacks, which must end as those of the load. */
  accepted: Accepted[];
}

/** Milliseconds within which a request must be final. */
const FINAL = 180_000;

/** A node, a fault proxy, the service, and an app with wallets and collections. */
export class World {
  readonly #scene: Scene;
  /** Then the chain makes blocks of its own, and needs no more to be final. */
  #isAlone = false;
  #node: NodeProcess;
  readonly #seed: number;
  readonly proxy: FaultProxy;
  /** With several nodes: what the service connects to. The first is in front of the proxy. */
  readonly nodes: readonly FaultyNode[];
  readonly random: Random;
  readonly service: Service;
  /** The first webhook of both apps is the same one. The app of the load has all. */
  readonly webhooks: AppWebhooks;
  /** The app of the load. */
  app!: App;
  attacker!: Attacker;
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
    scene: Scene,
    seed: number,
    parts: Pick<World, "node" | "proxy" | "nodes" | "random" | "service" | "webhooks">,
  ) {
    this.#scene = scene;
    this.#seed = seed;
    this.#node = parts.node;
    this.proxy = parts.proxy;
    this.nodes = parts.nodes;
    this.random = parts.random;
    this.service = parts.service;
    this.webhooks = parts.webhooks;
  }

  static create({ kind, engine, seed, hardfork, nodes: count }: WorldOptions): Promise<World> {
    return Scene.open("campaign", async (scene) => {
      const { folder } = scene;
      // The logs say why it failed, until `stop` decides.
      scene.keepsFolder = true;
      // The contracts do not fit into transactions under the rules of Amsterdam: they are deployed before.
      const isLate = hardfork === "amsterdam";
      const rules = hardfork === undefined ? {} : { hardfork: isLate ? "osaka" : hardfork };
      const node = await scene.add(NodeProcess.start(kind, folder, rules));
      const random = new Random(seed);
      const proxy = await scene.add(FaultProxy.start(node.url, new Random(seed)));
      const nodes: FaultyNode[] = [];
      for (let index = 0; count > 1 && index < count; index++)
        nodes.push(await scene.add(FaultyNode.start(index === 0 ? proxy.url : node.url)));
      const settings = {
        ...SETTINGS,
        ...(count === 1 ? { RPC_URL: proxy.url } : { RPC_URLS: nodes.map(({ url }) => url).join(",") }),
        // The processes start often.
        NODE_COMPILE_CACHE: join(folder, "compiled"),
      };
      const service = await scene.add(Service.create({ engine, isOne: engine === "sqlite" }, folder, settings, random));
      const webhooks = await scene.add(AppWebhooks.listen());
      const world = new World(scene, seed, { node, proxy, nodes, random, service, webhooks });
      await service.start();
      if (isLate) await world.#activate("amsterdam");
      await world.#setUpApp();
      return world;
    });
  }

  static alone({ engine, settings = {}, atFirst, node: startNode }: Alone): Promise<World> {
    return Scene.open("campaign", async (scene) => {
      const { folder } = scene;
      const usual = () => NodeProcess.start(anvilBinary() === null ? "hardhat" : "anvil", folder);
      const node = await scene.add((startNode ?? usual)());
      const random = new Random(1);
      const proxy = await scene.add(FaultProxy.start(node.url, random));
      const own = { ...RATES, RPC_URL: node.url, NODE_COMPILE_CACHE: join(folder, "compiled"), ...settings };
      const service = await scene.add(Service.create({ engine, isOne: true }, folder, own, random));
      const webhooks = await scene.add(AppWebhooks.listen());
      const world = new World(scene, 1, { node, proxy, nodes: [], random, service, webhooks });
      world.#isAlone = true;
      await service.start(atFirst);
      await world.#setUpApp();
      return world;
    });
  }

  get client(): RetryingClient {
    return this.app.client;
  }

  /** Makes one call, and does not repeat it. */
  call(app: App, method: string, path: string, body?: object | string, more?: Partial<RawCall>): Promise<RawAnswer> {
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const sent = { method, path, token: app.token, from: app.from, ...(text === undefined ? {} : { body: text }) };
    return callFrom(this.service.apiUrls[0] ?? "", { ...sent, ...more });
  }

  /** Waits, and mines meanwhile, until a request is final. @throws when it is not in time. */
  async final({ client }: App, id: string, within = FINAL): Promise<Record<string, unknown>> {
    const isFinal = async () => {
      const request = await client.ok("GET", `/v1/requests/${id}`);
      if (request["status"] === "completed" || request["status"] === "failed") return request;
      if (!this.#isAlone) await this.mine();
      return null;
    };
    return waitFor(`request ${id}`, isFinal, { within, every: 100 });
  }

  /** @throws when the request fails. */
  async completed(app: App, id: string, within?: number): Promise<Record<string, unknown>> {
    const request = await this.final(app, id, within);
    if (request["status"] === "failed") throw new Error(`a request failed: ${JSON.stringify(request).slice(0, 300)}`);
    return request;
  }

  async wallet({ client }: App): Promise<string> {
    return String((await client.ok("POST", "/v1/accounts", {}))["address"]);
  }

  async collection(app: App, fields: object = {}): Promise<string> {
    const body = { type: "ERC721", name: "Campaign", symbol: "CMP", ...fields };
    const id = await app.client.accept("/v1/collections", body);
    return String((await this.completed(app, String(id)))["nft_collection"]);
  }

  get folder(): string {
    return this.#scene.folder;
  }

  get node(): NodeProcess {
    return this.#node;
  }

  /** Starts a node that continues the chain under the rules of another hard fork, and the service with it. */
  async #activate(hardfork: Hardfork): Promise<void> {
    await this.service.kill();
    this.#node = await this.#scene.add(NodeProcess.continuing(this.#node, hardfork));
    this.proxy.target = this.#node.url;
    for (const node of this.nodes.slice(1)) node.target = this.#node.url;
    await this.service.start();
  }

  async mine(blocks = 1): Promise<void> {
    for (let mined = 0; mined < blocks; mined++) await this.node.mine();
  }

  /** @param keep whether the database and the logs stay. */
  async stop(keep: boolean): Promise<void> {
    this.#scene.keepsFolder = keep;
    await this.#scene.close();
  }

  async #setUpApp(): Promise<void> {
    this.app = await this.#newApp("campaign", "127.0.0.1", this.random, QUOTAS);
    await this.webhooks.addForTokens(this.app.client);
    // Draws of its own, so that the calls of the load stay the same for a seed.
    this.follower = await this.#scene.add(new Follower(this.service.apiUrls, this.app, new Random(this.#seed)));
    for (let index = 0; index < WALLETS; index++) this.wallets.push(await this.wallet(this.app));
    this.erc721 = await this.collection(this.app);
    this.erc1155 = await this.collection(this.app, { type: "ERC1155" });
    const attacker = await this.#newApp("attacker", "127.0.0.2", new Random(this.#seed));
    const [wallet, collection] = [await this.wallet(attacker), await this.collection(attacker)];
    this.attacker = { ...attacker, wallet, collection, accepted: [] };
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

  async #newApp(name: string, from: string, random: Random, quotas?: Partial<Quotas>): Promise<App> {
    const app = await createAppIn(this.service.databaseUrl, name, quotas);
    const client = new RetryingClient(this.service.apiUrls, app.token, random);
    await this.webhooks.addFirst(client);
    return { ...app, from, client };
  }
}

async function refusingContract(deployer: JsonRpcSigner, mode: number): Promise<string> {
  const receiver = await (await new ProgrammableReceiver__factory(deployer).deploy()).waitForDeployment();
  await (await receiver.program(mode)).wait();
  return receiver.getAddress();
}
