import { dataLength } from "ethers";

import type { Command } from "../domain/command.ts";

/** Gas of one item of a batch. */
export interface ItemGas {
  /** Counted towards the transaction's gas limit. Above what the item really uses. */
  expected: number;
  /** Gas limit of the call itself. An item that needs more fails alone. */
  limit: number;
}

/** EIP-7825: the highest gas limit of a transaction, on any chain. */
export const MAX_TRANSACTION_GAS = 16_777_216;
/** Base price of a transaction and of one EIP-7702 authorization. */
const TRANSACTION = 21_000;
const AUTHORIZATION = 25_000;
/** The relay's own work for an item: at worst a new bitmap word, the failure event and the call. */
const ITEM_OVERHEAD = 30_000;
/** Gas that the relay reserves to stop cleanly and emit its closing event. */
const RESERVE = 120_000;
/** Price of one calldata byte that is not zero. */
const DATA_BYTE = 16;
/** Storing one 32-byte word of a string. */
const WORD = 22_500;

/**
 * Gas of an item without a receiver's code. Storage dominates (a new slot costs 22,100). The limits are about twice what the
 * gas snapshot shows: a limit that is too low fails a good item, and one that is too high costs nothing.
 */
function ownGas(command: Command, data: string): ItemGas {
  switch (command.kind) {
    case "create-collection": {
      // The arguments are part of the clone's code, at 200 gas a byte, and are copied several times.
      const length = dataLength(data);
      return { expected: 130_000 + 230 * length, limit: 260_000 + 280 * length };
    }
    case "mint-erc721":
      return { expected: 80_000, limit: 160_000 };
    case "create-erc1155": {
      const words = command.uri === null ? 0 : Math.ceil(Buffer.byteLength(command.uri) / 32) + 1;
      return { expected: 100_000 + words * WORD, limit: 200_000 + words * 2 * WORD };
    }
    case "mint-erc1155":
      return { expected: 70_000, limit: 150_000 };
    case "announce-metadata":
      return { expected: 50_000, limit: 100_000 };
    case "freeze-metadata": {
      // Stores and logs two strings and the flags.
      const words = Math.ceil(dataLength(data) / 32);
      return { expected: 80_000 + words * WORD, limit: 160_000 + words * 2 * WORD };
    }
    case "transfer":
      return command.foreign ? { expected: 150_000, limit: 250_000 } : { expected: 80_000, limit: 160_000 };
  }
}

/**
 * @param simulated gas of the call as a separate transaction, if it runs foreign code. Null: the simulation failed.
 *   Undefined: it runs no foreign code.
 * @param maxItemGas the most that foreign code may burn.
 */
export function itemGas(
  command: Command,
  data: string,
  simulated: bigint | null | undefined,
  maxItemGas: number,
): ItemGas {
  const own = ownGas(command, data);
  if (simulated === undefined) return own;
  const foreign = simulated === null ? maxItemGas : Math.min(Math.ceil(Number(simulated) * 1.5), maxItemGas);
  return { expected: Math.max(own.expected, foreign), limit: Math.max(own.limit, foreign) };
}

/** Gas limit of a transaction with these items: their expected gas, the full limit of one item, and the reserve. */
export function batchGas(items: { gas: ItemGas; data: string }[], authorizations: number): number {
  let total = TRANSACTION + AUTHORIZATION * authorizations + RESERVE;
  let largest = 0;
  for (const { gas, data } of items) {
    // 7 words of ABI encoding surround the data of each call. Zero bytes count like the others.
    total += gas.expected + ITEM_OVERHEAD + DATA_BYTE * (dataLength(data) + 224);
    largest = Math.max(largest, gas.limit);
  }
  // A call gets at most 63/64 of the remaining gas (EIP-150).
  return total + Math.ceil((largest * 64) / 63);
}
