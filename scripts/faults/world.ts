import { join } from "node:path";

import type { JsonRpcSigner } from "ethers";

import { QUOTA_NAMES, type Quotas } from "../../api/domain/quota.ts";
import { PlainERC721__factory } from "../../contracts/generated/factories/mocks/PlainERC721__factory.ts";
import { ProgrammableReceiver__factory } from "../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { FaultProxy } from "../scene/fault-proxy.ts";
import { FaultyNode } from "../scene/faulty-node.ts";
import { type NodeKind, NodeProcess } from "../scene/node.ts";
import { Random } from "../scene/random.ts";
import { WebhookReceiver } from "../scene/receiver.ts";
import { createAppIn, Scene } from "../scene/scene.ts";
import { RetryingClient } from "./client.ts";
import type { Accepted } from "./load.ts";
import { Follower } from "./follower.ts";
import type { Engine, Hardfork } from "./options.ts";
import { Service } from "./service.ts";

/** Confirmations until a block is final here. A shallower reorg must leave no trace. */
export const CONFIRMATIONS = 4;

const SETTINGS = {
  CONFIRMATIONS: CONFIRMATIONS.toString(),
  LANES: "2",
  RATE_LIMIT_PER_MINUTE: "1000000",
  PUBLIC_RATE_LIMIT_PER_MINUTE: "1000000",
  BATCH_ITEMS_PER_MINUTE: "1000000",
  REBROADCAST_SECONDS: "1",
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
  hardfork: Hardfork | null;
  /** How many nodes the service has. Default: one. */
  nodes?: number;
}

const WALLETS = 6;
/** Modes of `ProgrammableReceiver`. */
const [REVERT_WITH_REASON, ACCEPT_SIMULATED] = [2, 8];

/** An app that attacks the service, while the app of the load goes on. */
interface Attacker {
  appId: string;
  token: string;
  client: RetryingClient;
  /** An ERC721 collection of its own, and a wallet. */
  collection: string;
  wallet: string;
  /** Requests of its attacks, which must end as those of the load. */
  accepted: Accepted[];
}

/** A node, a fault proxy, the service, and an app with wallets and collections. */
export class World {
  readonly #scene: Scene;
  #node: NodeProcess;
  readonly #seed: number;
  readonly proxy: FaultProxy;
  /** With several nodes: what the service connects to. The first is in front of the proxy. */
  readonly nodes: readonly FaultyNode[];
  readonly random: Random;
  readonly service: Service;
  /** The final events that arrived, by request. An event that is delivered repeatedly counts once. */
  readonly finals: ReadonlyMap<string, ReadonlySet<string>>;
  /** When the webhooks for completed requests arrived (monotonic clock), since it was last cleared. */
  readonly completedAt = new Map<string, number>();
  readonly #hook: string;
  client!: RetryingClient;
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
    parts: Pick<World, "node" | "proxy" | "nodes" | "random" | "service"> & { receiver: WebhookReceiver },
  ) {
    this.#scene = scene;
    this.#seed = seed;
    this.#node = parts.node;
    this.proxy = parts.proxy;
    this.nodes = parts.nodes;
    this.random = parts.random;
    this.service = parts.service;
    this.finals = recordFinals(parts.receiver, this.completedAt);
    this.#hook = parts.receiver.url;
  }

  static create({ kind, engine, seed, hardfork, nodes: count = 1 }: WorldOptions): Promise<World> {
    return Scene.open("campaign", async (scene) => {
      const { folder } = scene;
      // The logs say why it failed, until `stop` decides.
      scene.keepsFolder = true;
      // The contracts do not fit into transactions under the rules of Amsterdam: they are deployed before.
      const isLate = hardfork === "amsterdam";
      const rules = hardfork === null ? {} : { hardfork: isLate ? "osaka" : hardfork };
      const node = await scene.add(NodeProcess.start(kind, folder, rules));
      const random = new Random(seed);
      const proxy = await scene.add(FaultProxy.start(node.url, new Random(seed)));
      const nodes: FaultyNode[] = [];
      for (let index = 0; count > 1 && index < count; index++)
        nodes.push(await scene.add(FaultyNode.start(index === 0 ? proxy.url : node.url)));
      const settings = {
        ...SETTINGS,
        ...(count === 1 ? { RPC_URL: proxy.url } : { RPC_URLS: nodes.map(({ url }) => url).join(",") }),
        DEPLOYMENTS_DIR: join(folder, "deployments"),
        // The processes start often.
        NODE_COMPILE_CACHE: join(folder, "compiled"),
      };
      const service = await scene.add(Service.create(engine, folder, settings, random));
      const receiver = await scene.add(WebhookReceiver.listen());
      const world = new World(scene, seed, { node, proxy, nodes, random, service, receiver });
      await service.start();
      if (isLate) await world.#activate("amsterdam");
      await world.#setUpApp();
      return world;
    });
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
    const { service } = this;
    const app = await createAppIn(service.databaseUrl, "campaign", QUOTAS);
    this.client = new RetryingClient(service.apiUrls, app.token, this.random);
    // Draws of its own, so that the calls of the load stay the same for a seed.
    this.follower = await this.#scene.add(new Follower(service.apiUrls, app, new Random(this.#seed)));
    await this.client.ok("PUT", "/v1/webhook", { url: this.#hook });
    for (let index = 0; index < WALLETS; index++) {
      this.wallets.push(String((await this.client.ok("POST", "/v1/accounts", {}))["address"]));
    }
    this.erc721 = await this.#collection(this.client, "ERC721");
    this.erc1155 = await this.#collection(this.client, "ERC1155");
    this.attacker = await this.#setUpAttacker();
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

  async #setUpAttacker(): Promise<Attacker> {
    const { apiUrls, databaseUrl } = this.service;
    const app = await createAppIn(databaseUrl, "attacker");
    const client = new RetryingClient(apiUrls, app.token, new Random(this.#seed));
    await client.ok("PUT", "/v1/webhook", { url: this.#hook });
    const wallet = String((await client.ok("POST", "/v1/accounts", {}))["address"]);
    return { ...app, client, wallet, collection: await this.#collection(client, "ERC721"), accepted: [] };
  }

  async #collection(client: RetryingClient, type: string): Promise<string> {
    const id = await client.accept("/v1/collections", { type, name: "Campaign", symbol: "CMP" });
    for (;;) {
      const request = await client.ok("GET", `/v1/requests/${String(id)}`);
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

/** Lets the receiver record the final events of each request. */
function recordFinals(receiver: WebhookReceiver, completedAt: Map<string, number>): Map<string, Set<string>> {
  const finals = new Map<string, Set<string>>();
  receiver.respond = ({ body }, response) => {
    // A campaign may run for hours, so the calls themselves are not kept.
    receiver.calls.length = 0;
    response.end();
    const { id, type, request_id: request } = body as { id: string; type: string; request_id: string };
    // A `corrected` event may follow a final one when a reorganization was deeper than the confirmations.
    if (type !== "completed" && type !== "error") return;
    if (type === "completed" && !finals.has(request)) completedAt.set(request, performance.now());
    finals.set(request, (finals.get(request) ?? new Set()).add(`${type} ${id}`));
  };
  return finals;
}
