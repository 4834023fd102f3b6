import { dataLength } from "ethers";

import { type Command, isMint, isOfWallet } from "../domain/command.ts";
import {
  expectedGas,
  type GasCall,
  type GasMeasurement,
  L1_MARGIN,
  type L1Data,
  type MintSlots,
  targetGas,
  TRANSACTION_GAS,
  unexpectedGas,
  UNKNOWN_SLOTS,
  UNMEASURED_GAS,
} from "../domain/gas-estimate.ts";
import { holdingKey, tokenKey } from "../domain/token.ts";
import type { Db } from "../store/db/sql.ts";
import {
  type Balance,
  type CollectionTraits,
  collectionTraits,
  PLAIN_COLLECTION,
  usedBalances,
} from "../store/sending/mint-slots.ts";
import type { BatchGas } from "./pace.ts";

/**
 * Knows the states of the slots that the calls of one batch write. A mint to a new owner costs nearly twice as much as a further
 * one to the same owner, so without this a batch would be far from using its gas limit. It only decides sizes and gas limits,
 * because a reorg or a transfer may change a balance at any time.
 */
export class BatchSlots {
  readonly #used: ReadonlySet<string>;
  readonly #collections: ReadonlyMap<string, CollectionTraits>;
  readonly #written = new Set<string>();

  private constructor(used: ReadonlySet<string>, collections: ReadonlyMap<string, CollectionTraits>) {
    this.#used = used;
    this.#collections = collections;
  }

  /** Looks up all collections of single tokens with one statement, and the balances of all mints with another. */
  static async of(read: Db, commands: readonly Command[]): Promise<BatchSlots> {
    const collections = await collectionTraits(read, [...new Set(commands.flatMap((one) => erc721Of(one) ?? []))]);
    const balances = new Map(
      commands.flatMap((command) => {
        const balance = balanceOf(command);
        if (balance === null) return [];
        const compact = collections.get(balance.contract)?.storage === "compact";
        return [[slotOf(balance), { ...balance, compact }] as const];
      }),
    );
    const keys = [...balances.keys()];
    const used = await usedBalances(read, [...balances.values()]);
    return new BatchSlots(new Set(keys.filter((_, index) => used[index])), collections);
  }

  /** The states of a command's slots after the commands that were added. */
  find(command: Command): MintSlots {
    const { storage, soulbound } = this.#collections.get(erc721Of(command) ?? "") ?? PLAIN_COLLECTION;
    const balance = balanceOf(command);
    if (balance === null) return { ...UNKNOWN_SLOTS, storage };
    const key = slotOf(balance);
    return {
      storage,
      balance: this.#written.has(key) ? "written" : this.#used.has(key) ? "used" : "new",
      supply: this.#written.has(supplyOf(balance)) ? "written" : "used",
      soulbound,
    };
  }

  /** Adds a command of the batch. A command that is left out of the batch writes nothing. */
  add(command: Command): void {
    const balance = balanceOf(command);
    if (balance !== null) this.#written.add(slotOf(balance)).add(supplyOf(balance));
  }
}

/** The contract in which a command mints, moves or burns a single token; null for other commands. */
function erc721Of(command: Command): string | null {
  if (command.kind === "mint-erc721") return command.collection;
  return isOfWallet(command) && command.contractType === "ERC721" ? command.contract : null;
}

/** The balance that a mint increases; null for other commands. */
function balanceOf(command: Command): Omit<Balance, "compact"> | null {
  if (!isMint(command)) return null;
  const tokenId = command.kind === "mint-erc721" ? null : command.tokenId;
  return { contract: command.collection, owner: command.to, tokenId };
}

function supplyOf({ contract, tokenId }: Omit<Balance, "compact">): string {
  return tokenKey({ contract, tokenId: tokenId ?? "" });
}

/** A wallet has one balance of all its single tokens in a contract. */
function slotOf({ contract, owner, tokenId }: Omit<Balance, "compact">): string {
  return holdingKey({ contract, owner, tokenId: tokenId ?? "" });
}

/** Gas of one item of a batch. */
export interface ItemGas {
  /** Counted towards the transaction's gas limit. Above what the item really uses. */
  expected: number;
  /** Gas limit of the call itself. An item that needs more fails alone. */
  limit: number;
}

/** What `batchGas` must know of an item. */
interface CountedItem {
  gas: ItemGas;
  target: string;
  data: string;
  number: bigint;
}

/** Base price of one EIP-7702 authorization. */
const AUTHORIZATION = 25_000;
/** Price of a new slot before any chain charged for the growth of its state. */
const PLAIN_SLOT = 22_108;
/** The state that an authorization adds to the chain, in new slots: an account and its code (EIP-8037: 143 bytes). */
const AUTHORIZATION_SLOTS = 2.6;
/** The relay's own work for an item: it decodes the call, makes it, and notes its number. */
const ITEM_OVERHEAD = 700;
/** Gas that the relay reserves to stop cleanly (GAS_RESERVE), with a margin. The words of its bitmap are counted separately. */
export const RESERVE = 320_000;
/** Prices of one calldata byte, and of the words that surround the data of a call: seven, most of whose bytes are zero. */
const DATA = { zero: 4, other: 16, words: 1_300 } as const;
/** The most bytes that surround the data of a call, padding included, and the bytes that precede all calls. */
const CALL_BYTES: Bytes = { zero: 192, other: 64 };
const BATCH_BYTES = 68;
/** The digit 0. */
const ZERO = 48;
/** Bitmap words have 256 bits. */
const BUCKET_BITS = 8n;

/**
 * Measured gas times this factor is what an item is expected to use. A small one: what a batch does not use of its gas limit
 * is room in the block that no other transaction gets. If it is too small, the relay stops before the next item, which then
 * runs in another batch.
 */
const MARGIN = 1.02;
/**
 * A call that runs only the service's code may use its expected gas twice, and this much more: enough for a mint after a
 * hard fork that was not measured yet. A limit that is too low fails a good item; one that is too high costs nothing.
 */
const HEADROOM = 300_000;
/** The most by which the doubling raises a limit. */
const MOST_EXTRA = 1_500_000;

/** An item, as far as its gas depends on it. */
interface GasItem extends Omit<GasCall, "dataLength"> {
  data: string;
}

/** Gas of a call as a separate transaction. `unknown`: the simulation says nothing. `own code`: the call runs no foreign code. */
export type SimulatedGas = bigint | "unknown" | "own code";

/**
 * @param measured what calls cost on the connected chain.
 * @param maxItemGas the most that foreign code may burn.
 */
export function itemGas(
  measured: GasMeasurement,
  { command, data, slots, toWallet }: GasItem,
  simulated: SimulatedGas,
  maxItemGas: number,
): ItemGas {
  const call = { command, dataLength: dataLength(data), slots, toWallet };
  const expected = Math.ceil(expectedGas(measured, call) * MARGIN);
  const unexpected = Math.ceil(unexpectedGas(measured, call) * MARGIN);
  // A node that names too low costs must not fail a good item.
  const least = Math.max(expected, Math.ceil(expectedGas(UNMEASURED_GAS, call) * MARGIN));
  if (simulated === "own code") {
    return { expected, limit: least + Math.min(least, MOST_EXTRA) + HEADROOM + unexpected };
  }
  // Foreign code may need half more than its simulation, or what others can cause meanwhile.
  const needed =
    simulated === "unknown" ? Infinity : Math.max(Math.ceil(Number(simulated) * 1.5), Number(simulated) + unexpected);
  // Foreign code may burn all that it gets, so the whole limit counts: it cannot take gas from the other items.
  const most = Math.max(least, Math.min(needed, maxItemGas));
  return { expected: most, limit: most };
}

/**
 * Gas of a transaction with these items. Its limit is their expected gas, what they share, the full limit of one item, and
 * the reserve.
 */
export function batchGas(measured: GasMeasurement, items: readonly CountedItem[], authorizations: number): BatchGas {
  const { newSlot, floor, l1 } = measured;
  let least = floor.base + floor.other * BATCH_BYTES;
  const authorization = AUTHORIZATION + AUTHORIZATION_SLOTS * Math.max(0, newSlot - PLAIN_SLOT);
  let expected = TRANSACTION_GAS + Math.ceil(authorization) * authorizations;
  let largest = 0;
  let data = l1.base + l1.other * BATCH_BYTES;
  const targets = new Set<string>();
  const buckets = new Set<bigint>();
  for (const item of items) {
    const { gas, target, number } = item;
    const bytes = countBytes(item.data);
    expected += expectedWith(gas, bytes);
    data += l1Gas(l1, bytes);
    least += floor.zero * (bytes.zero + CALL_BYTES.zero) + floor.other * (bytes.other + CALL_BYTES.other);
    largest = Math.max(largest, gas.limit);
    targets.add(target);
    buckets.add(number >> BUCKET_BITS);
  }
  expected += targets.size * targetGas(measured) + buckets.size * newSlot;
  // Blocks count what calldata costs at least, too.
  expected = Math.max(expected, least) + Math.ceil(data);
  // A call gets at most 63/64 of the remaining gas (EIP-150).
  const limit = expected + Math.ceil((L1_MARGIN - 1) * data) + RESERVE + Math.ceil((largest * 64) / 63);
  return { expected, limit };
}

/** The gas that an item adds to its transaction, without what the items share. */
export function expectedOf({ l1 }: GasMeasurement, { gas, data }: Pick<CountedItem, "gas" | "data">): number {
  const bytes = countBytes(data);
  return expectedWith(gas, bytes) + Math.ceil(l1Gas(l1, bytes));
}

/** The gas that a chain charges for the L1 data of an item. */
function l1Gas({ zero, other }: L1Data, bytes: Bytes): number {
  return zero * (bytes.zero + CALL_BYTES.zero) + other * (bytes.other + CALL_BYTES.other);
}

function expectedWith(gas: ItemGas, bytes: Bytes): number {
  return gas.expected + ITEM_OVERHEAD + bytes.zero * DATA.zero + bytes.other * DATA.other + DATA.words;
}

/** Bytes of calldata, which have two prices. */
interface Bytes {
  zero: number;
  other: number;
}

function countBytes(data: string): Bytes {
  let zero = 0;
  for (let index = 2; index < data.length; index += 2) {
    if (data.charCodeAt(index) === ZERO && data.charCodeAt(index + 1) === ZERO) zero++;
  }
  return { zero, other: data.length / 2 - 1 - zero };
}
