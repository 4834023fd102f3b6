import { id as topicOf, zeroPadValue } from "ethers";
import { expect } from "chai";

import { FaultyNode, type NodeFault } from "../../scripts/scene/faulty-node.ts";
import { eventually } from "./eventually.ts";
import type { OwnService } from "./own-service.ts";

/** Who gets the tokens. */
export const RECIPIENT = `0x${"a1".repeat(20)}`;

/** Nodes in front of one chain, some of which fail, and the mints that are made meanwhile. */
export class NodesScene {
  readonly #moneta: OwnService;
  nodes: FaultyNode[] = [];
  #collection = "";
  #minted = 0;

  constructor(moneta: OwnService) {
    this.#moneta = moneta;
  }

  async start(count: number, settings: Record<string, string> = {}): Promise<void> {
    await this.addNodes(count);
    await this.#moneta.start({ ...this.settings, ...settings });
    await this.begin();
  }

  async addNodes(count: number): Promise<void> {
    while (this.nodes.length < count) this.nodes.push(await FaultyNode.start(this.#moneta.node.url));
  }

  get settings(): Record<string, string> {
    return { RPC_URL: "", RPC_URLS: this.nodes.map(({ url }) => url).join(",") };
  }

  async begin(): Promise<void> {
    this.#collection = await this.#moneta.api.collection({ type: "ERC721" });
  }

  async stop(): Promise<void> {
    await this.#moneta.stop();
    for (const node of this.nodes) await node.stop();
    this.nodes = [];
  }

  /** A block comes all the time, so that what waits for blocks above its own becomes final. */
  async minesAllTheTime(): Promise<void> {
    await this.#moneta.node.provider.send("evm_setIntervalMining", [200]);
  }

  /** To be called before the fixture gives its node back. */
  async minesOnlyTransactions(): Promise<void> {
    await this.#moneta.node.provider.send("evm_setIntervalMining", [0]);
  }

  fail(number: number, fault: NodeFault | null): void {
    this.node(number).fault = fault;
  }

  node(number: number): FaultyNode {
    const node = this.nodes[number - 1];
    if (node === undefined) throw new Error(`there is no node ${number.toString()}`);
    return node;
  }

  get collection(): string {
    return this.#collection;
  }

  /** @returns milliseconds until it was completed. */
  async mints(): Promise<number> {
    const started = performance.now();
    await this.#moneta.api.completed("/v1/nfts", { collection_address: this.#collection, to_address: RECIPIENT });
    this.#minted += 1;
    return performance.now() - started;
  }

  async head(): Promise<number> {
    return Number(await this.#moneta.node.provider.send("eth_blockNumber", []));
  }

  async mine(blocks: number): Promise<void> {
    // One by one: blocks that Hardhat mines together do not name their parents.
    for (let block = 0; block < blocks; block++) await this.#moneta.node.provider.send("evm_mine", []);
  }

  /** What `/readyz` says, about the nodes or another check. */
  async word(check = "nodes"): Promise<unknown> {
    const response = await fetch(`${this.#moneta.baseUrl}/readyz`);
    return ((await response.json()) as { checks: Record<string, unknown> }).checks[check];
  }

  allUp(): Promise<unknown> {
    return this.says("ok");
  }

  /** Its answers are a second old. */
  says(word: string, check = "nodes"): Promise<unknown> {
    return eventually(async () => ((await this.word(check)) === word ? true : undefined));
  }

  /** Waits until a node gets a transaction. */
  async sent(number: number): Promise<void> {
    const { calls } = this.node(number);
    const count = () => calls.get("eth_sendRawTransaction") ?? 0;
    const before = count();
    await eventually(() => Promise.resolve(count() > before ? true : undefined));
  }

  /** Waits for the words of the indexer to its operator. */
  waits(words: string): Promise<unknown> {
    return eventually(() => {
      const said = this.#moneta.lastErrorOf("indexer") ?? "";
      return said.includes(words) ? said : undefined;
    });
  }

  /** Every request ran once, and none twice. */
  async ranOnce(): Promise<void> {
    const logs: unknown = await this.#moneta.node.provider.send("eth_getLogs", [
      {
        address: this.#collection,
        topics: [topicOf("Transfer(address,address,uint256)"), null, zeroPadValue(RECIPIENT, 32)],
        fromBlock: "0x0",
      },
    ]);
    expect(logs).to.have.length(this.#minted);
  }
}
