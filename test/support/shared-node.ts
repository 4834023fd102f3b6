import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { deployLocally, LOCAL_CHAIN_ID, configureLocally, withLocalOwner } from "../../api/chain/local-contracts.ts";
import { type ContractAddresses, deploymentFile } from "../../api/chain/contracts.ts";
import type { CollectionStorage } from "../../api/domain/command.ts";
import { atEndOfRun } from "../../scripts/scene/end-of-run.ts";
import { temporaryFolder } from "./folder.ts";
import { startNode, type TestNode } from "./node.ts";
import { testKeys } from "./test-keys.ts";

/*
 * One Hardhat node for the test files of a process, one after the other: a start takes seconds, a return to an earlier block
 * milliseconds. The chain that a test gets has the service's contracts, and lane 0 of the test keys may use them, so a service
 * sends no transaction when it starts.
 */

export interface BorrowedNode extends TestNode {
  /** DEPLOYMENTS_DIR that names the contracts on its chain; null on an empty chain. */
  deployments: string | null;
}

/** "deployed": with the service's contracts. "empty": the chain has block 0 only. */
type ChainState = "deployed" | "empty";

/** What a service without PUBLIC_URL sets, at the port 0 of tests. */
const HOSTED_BASE = "http://localhost:0/metadata/";

interface Shared {
  node: TestNode;
  /** Snapshot of the empty chain. */
  empty: unknown;
  /** Snapshot with the contracts. A return to the empty chain removes it. */
  deployed: unknown;
  deployments: string;
}

let starting: Promise<Shared> | null = null;
let isBorrowed = false;

/**
 * Borrows the shared node. `stop` returns it.
 * @throws when an earlier borrower has not returned it.
 */
export async function borrowNode(state: ChainState = "deployed"): Promise<BorrowedNode> {
  if (isBorrowed) throw new Error('The shared node is in use. Start a second node with `node: "own"`.');
  isBorrowed = true;
  try {
    const shared = await (starting ??= start());
    if (state === "empty") await returnTo(shared, "empty");
    else if (shared.deployed === null) await deploy(shared);
    const deployments = state === "empty" ? null : shared.deployments;
    return { ...shared.node, deployments, stop: () => giveBack(state) };
  } catch (error) {
    isBorrowed = false;
    throw error;
  }
}

async function start(): Promise<Shared> {
  const node = await startNode();
  const folder = await temporaryFolder();
  atEndOfRun(async () => {
    starting = null;
    await node.stop();
    await folder.remove();
  });
  const empty: unknown = await node.provider.send("evm_snapshot", []);
  return { node, empty, deployed: null, deployments: join(folder.path, "deployments") };
}

/** Deploys the service's contracts on an empty chain. @returns DEPLOYMENTS_DIR, in a folder. */
export async function deployInto(folder: string, url: string, storage: CollectionStorage): Promise<string> {
  const contracts = await withLocalOwner(url, (owner) => deployLocally(owner, HOSTED_BASE, storage));
  const deployments = join(folder, "deployments");
  await writeDeployment(deployments, contracts);
  return deployments;
}

async function writeDeployment(folder: string, contracts: ContractAddresses): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(deploymentFile(folder, LOCAL_CHAIN_ID), JSON.stringify(contracts));
}

async function deploy(shared: Shared): Promise<void> {
  const { url, provider } = shared.node;
  const { lane } = await testKeys();
  const contracts = await withLocalOwner(url, async (owner) => {
    const deployed = await deployLocally(owner, HOSTED_BASE);
    await configureLocally(owner, deployed, { lanes: [lane], hostedBase: HOSTED_BASE });
    return deployed;
  });
  await writeDeployment(shared.deployments, contracts);
  shared.deployed = await provider.send("evm_snapshot", []);
}

/** A node that cannot go back is replaced. */
async function giveBack(state: ChainState): Promise<void> {
  if (starting === null) return;
  const shared = await starting;
  isBorrowed = false;
  try {
    await shared.node.provider.send("evm_setAutomine", [true]);
    await returnTo(shared, state);
    await catchUpWithClock(shared.node);
  } catch (error) {
    starting = null;
    await shared.node.stop();
    throw error;
  }
}

async function returnTo(shared: Shared, state: ChainState): Promise<void> {
  const { provider } = shared.node;
  if ((await provider.send("evm_revert", [shared[state]])) !== true) throw new Error("the snapshot is gone");
  if (state === "empty") shared.deployed = null;
  // A snapshot can be used once.
  shared[state] = await provider.send("evm_snapshot", []);
}

/** Reverting to a snapshot also resets Hardhat's clock. Sets it to the current time again. */
async function catchUpWithClock({ provider }: TestNode): Promise<void> {
  const head = (await provider.send("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
  const now = Math.floor(Date.now() / 1000);
  if (now > Number(head.timestamp)) await provider.send("evm_setNextBlockTimestamp", [now]);
}
