import { setTimeout as wait } from "node:timers/promises";

import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
import type { BareChain } from "../pipeline/bare/chain.ts";
import type { World } from "../harness/world.ts";
import type { NodeProcess, Pace } from "../../scene/node.ts";

/** One mint while nothing else happens. */
export interface Lone {
  /** Blocks from the moment of the call to the block with the mint, which counts. */
  blocks: number;
  /** Seconds from the moment of the call until the caller knows that it is in a block. */
  seconds: number;
}

export interface LonePair {
  /** Through the service, until the request is completed. */
  service: Lone;
  /** A transaction through ethers, until its receipt. */
  bare: Lone;
}

interface Minted {
  request_id: string;
  status: string;
  transaction_hash: string | null;
}

/** Milliseconds between two polls of a request. */
const LOOK = 10;

/** Mints once through the service and once through ethers, both at the same moment between two blocks. */
export async function mintAt(
  { world, node }: { world: World; node: NodeProcess },
  chain: BareChain,
  pace: Pace,
  { body, moment }: { body: object; moment: number },
): Promise<LonePair> {
  const head = await node.nextBlock();
  await wait(moment * pace.seconds * 1_000);
  const [service, bare] = await Promise.all([
    timed(node, head, "the service", () => throughService(world, body)),
    timed(node, head, "ethers", () => throughEthers(chain)),
  ]);
  return { service, bare };
}

/** @param by who mints. */
async function timed(node: NodeProcess, head: number, by: string, mint: () => Promise<string>): Promise<Lone> {
  const started = performance.now();
  const hash = await mint();
  const seconds = (performance.now() - started) / 1_000;
  const receipt = await node.provider.getTransactionReceipt(hash);
  if (receipt === null) {
    const at = await node.head();
    throw new Error(
      `the transaction of ${by}, ${hash}, is in no block up to ${at.toString()}, ${seconds.toFixed(3)} s after the call`,
    );
  }
  return { blocks: receipt.blockNumber - head, seconds };
}

/** @returns the hash of the transaction. */
async function throughService(world: World, body: object): Promise<string> {
  const { request_id: id } = await world.load.send<Minted>({ method: "POST", path: "/v1/nfts", body });
  await world.final(id, LOOK);
  const request = await world.load.send<Minted>({ method: "GET", path: `/v1/requests/${id}` });
  if (request.transaction_hash === null) throw new Error(`the request ${id} has no transaction`);
  return request.transaction_hash;
}

async function throughEthers(chain: BareChain): Promise<string> {
  const collection = ERC721Collection__factory.connect(chain.collection, chain.operator);
  const sent = await collection.mint(chain.to);
  await sent.wait();
  return sent.hash;
}
