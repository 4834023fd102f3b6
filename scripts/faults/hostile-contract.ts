import { setTimeout as wait } from "node:timers/promises";

import { HostileERC1155__factory } from "../../types/ethers-contracts/factories/mocks/HostileERC1155__factory.ts";
import { HostileERC721__factory } from "../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import type { HostileERC721 } from "../../types/ethers-contracts/mocks/HostileERC721.ts";
import type { CrashPoint } from "../../api/shared/crash-point.ts";
import type { World } from "./world.ts";

/** Modes of `HostileERC721`. */
const MODES = { returnMegabytes: 1, burnAllGas: 2, revertWithMegabytes: 3 } as const;
/** Transfer logs of one attack to a wallet: each makes the service ask the contract for the owner. */
const CLAIMED = 300;
/** Logs of one transaction that fit into its gas. */
const LOGS_AT_ONCE = 3_000;
/** Transactions of a flood: more logs than the service takes from one contract in 500 blocks. */
const FLOOD = 4;
/** Moves of a batch event, and such events of a transaction: more than the service takes from one contract. */
const MOVES = { ofEvent: 2_500, events: 5 };
/** Fewer, and too many for the commit that stores the rest of the block. */
const LARGE_HISTORY = 3_000;
/** Milliseconds within which the service must leave the contract alone. */
const QUARANTINE_TIMEOUT = 120_000;
const POLL_MS = 100;

interface Followed {
  address: string;
  state: string;
}

/**
 * The app follows a contract of an attacker, which then floods the service with events or answers as badly as a contract
 * can. All requests of the round must end as without it.
 * @returns 1 when the service has quarantined the contract, otherwise 0.
 */
export async function attackByContract(world: World, load: Promise<unknown>): Promise<number> {
  const attacker = await world.node.provider.getSigner(6);
  const contract = await (await new HostileERC721__factory(attacker).deploy()).waitForDeployment();
  return attackFollowed(world, load, await contract.getAddress(), (wallet) =>
    world.random.chance(0.5) ? flood(contract, attacker.address) : lie(world, contract, attacker.address, wallet),
  );
}

/** The same with a few events that contain thousands of moves to a wallet, of different ids or of one. */
export async function floodWithMoves(world: World, load: Promise<unknown>): Promise<number> {
  const attacker = await world.node.provider.getSigner(6);
  const contract = await (await new HostileERC1155__factory(attacker).deploy()).waitForDeployment();
  return attackFollowed(world, load, await contract.getAddress(), async (wallet) => {
    await contract.spam(attacker.address, wallet, 1, MOVES.ofEvent, MOVES.events, world.random.chance(0.5));
  });
}

/**
 * The load reaches all crash points but the one between the parts of a large block.
 * @returns makes such a block, for that point.
 */
export async function reaching(world: World, point: CrashPoint): Promise<() => Promise<void>> {
  if (point !== "indexer:part") return () => Promise.resolve();
  const sender = await world.node.provider.getSigner(6);
  const contract = await (await new HostileERC1155__factory(sender).deploy()).waitForDeployment();
  const wallet = await followFor(world, await contract.getAddress());
  return async () => {
    await contract.spam(sender.address, wallet, 1, LARGE_HISTORY, 1, false);
  };
}

/** @returns the wallet for which the app follows it. */
async function followFor(world: World, address: string): Promise<string> {
  const wallet = world.random.pick(world.wallets);
  // Naming it for a wallet makes the app follow it. It must look like a token at first.
  await world.client.ok("GET", `/v1/accounts/${wallet}/${address}`);
  await becomes(world, address, (state) => state === "followed");
  return wallet;
}

async function attackFollowed(
  world: World,
  load: Promise<unknown>,
  address: string,
  attack: (wallet: string) => Promise<void>,
): Promise<number> {
  await attack(await followFor(world, address));
  const quarantined = await becomes(world, address, (state) => state === "quarantined");
  await load;
  await world.client.ok("DELETE", `/v1/contracts/${address}`);
  return quarantined ? 1 : 0;
}

async function flood(contract: HostileERC721, from: string): Promise<void> {
  const to = `0x${"ab".repeat(20)}`;
  for (let sent = 0; sent < FLOOD; sent++) {
    await contract.spam(from, to, sent * LOGS_AT_ONCE, LOGS_AT_ONCE);
  }
}

async function lie(world: World, contract: HostileERC721, from: string, wallet: string): Promise<void> {
  await contract.program(world.random.pick(Object.values(MODES)));
  await contract.spam(from, wallet, 1, CLAIMED);
}

/** @returns whether the contract comes into such a state in time. */
async function becomes(world: World, address: string, fits: (state: string) => boolean): Promise<boolean> {
  const deadline = performance.now() + QUARANTINE_TIMEOUT;
  while (performance.now() < deadline) {
    const page = await world.client.ok("GET", "/v1/contracts?limit=30");
    const found = (page["contracts"] as Followed[]).find((one) => one.address === address);
    if (found !== undefined && fits(found.state)) return true;
    // Reading the contract waits for blocks.
    await world.mine();
    await wait(POLL_MS);
  }
  return false;
}
