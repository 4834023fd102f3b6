import type { Command } from "./command.ts";
import { type GasMeasurement, type LinearGas, UNMEASURED_GAS } from "./gas-measurement.ts";

/** How a call finds a storage slot that it writes. Only the first write to a slot is expensive. */
export type SlotState =
  /** Nothing was ever written to it. */
  | "new"
  /** It was written before this transaction. */
  | "used"
  /** An earlier call of the same transaction wrote it, or read the same account. */
  | "written";

/** How a mint finds the slots that it shares with other mints, and what else it reads. */
export interface MintSlots {
  /** The recipient's balance. */
  balance: SlotState;
  /** The supply of an ERC1155 id that exists. */
  supply: SlotState;
  /** The length of the arguments that a mint of a soulbound ERC721 collection reads; null: it reads none. */
  soulbound: number | null;
}

export const UNKNOWN_SLOTS: MintSlots = { balance: "new", supply: "used", soulbound: null };

/**
 * What a mint of a soulbound ERC721 collection needs beside a plain one: it emits one more event, and decodes the collection's
 * arguments, which it copies from the code.
 */
const SOULBOUND: LinearGas = { base: 3_400, each: 0.3 };
/** Price of a change to a slot that the transaction has changed before: it is read and written. */
const WRITTEN_SLOT = 200;

/** A call, as far as its gas depends on it. */
export interface GasCall {
  command: Command;
  /** Bytes of its calldata. */
  dataLength: number;
  /** How a mint finds its slots, and what else it reads. */
  slots: MintSlots;
  /** Whether a mint's recipient is a wallet of the service: then the receiver check is skipped. */
  toWallet: boolean;
}

/** Expected gas of a call, without a receiver's code, its calldata, and what it shares with the others of its transaction. */
export function expectedGas(gas: GasMeasurement, { command, dataLength, slots, toWallet }: GasCall): number {
  // Other items of the measurement had already changed some of the slots, which makes them cheaper.
  const { slotUpdate, newSlot, account } = gas;
  switch (command.kind) {
    case "create-collection":
      return along(gas.createCollection, dataLength);
    case "mint-erc721":
      return (
        gas.mintErc721 +
        (slots.soulbound === null ? 0 : along(SOULBOUND, slots.soulbound)) -
        savedByBalance(gas, slots) -
        (toWallet && slots.balance !== "written" ? account : 0)
      );
    case "create-erc1155":
      return along(gas.createErc1155, command.uri === null ? 0 : words(bytesOf(command.uri)) + 1);
    case "mint-erc1155":
      return (slots.supply === "written" ? 0 : slotUpdate) + gas.mintErc1155 - savedByBalance(gas, slots);
    case "announce-metadata":
      return slotUpdate + gas.announceMetadata;
    case "freeze-metadata":
      return slotUpdate + along(gas.freezeMetadata, words(dataLength));
    case "transfer": {
      const own = command.contractType === "ERC721" ? gas.transferErc721 : gas.transferErc1155;
      // A foreign contract is not measured: it may store more. Its simulation shows what it needs.
      return own + 3 * slotUpdate + (command.foreign ? 2 * newSlot + 10 * account : 0);
    }
  }
}

/** What a mint costs less than the measured one, whose recipient held nothing and was not accessed before. */
function savedByBalance({ newSlot, slotUpdate, account }: GasMeasurement, { balance }: MintSlots): number {
  if (balance === "new") return 0;
  return balance === "used" ? newSlot - slotUpdate : newSlot + account - WRITTEN_SLOT;
}

/** The first access to a contract, to the code behind it, and to the slot that counts its tokens. */
export function targetGas({ firstMintErc721, mintErc721, account, slotUpdate }: GasMeasurement): number {
  return Math.max(0, firstMintErc721 - mintErc721) + account + slotUpdate;
}

/** Base price of a transaction. */
export const TRANSACTION_GAS = 21_000;
/** What requests share with the others of their transaction is charged as if it carried so many. */
const SMALL_BATCH = 4;
/** What an item takes beside its call: the relay's work, and the calldata without texts. */
const ITEM = 4_000;
/** Price of a byte of text in the calldata. */
const TEXT_BYTE = 16;
/** Bytes of calldata without texts. An owner or royalties of a collection add to them. */
const CREATION_BYTES = 100;
const CALL_BYTES = 132;
/** Two URIs with their lengths and offsets. Each is a CID and a short path. */
const FREEZE_BYTES = 324;

/**
 * The gas that a request reserves from its app's daily budget until its block shows what it used: what it costs in a small batch
 * on the connected chain. A receiver's code can add to it. No gas limit and no share of a transaction's cost comes from it.
 * @param gas what calls cost on the connected chain, as it was last measured.
 */
export function estimateGas(command: Command, gas: GasMeasurement = UNMEASURED_GAS): number {
  const texts = bytesOf(textsOf(command).join(""));
  const fixed =
    command.kind === "create-collection"
      ? CREATION_BYTES
      : command.kind === "freeze-metadata"
        ? FREEZE_BYTES
        : CALL_BYTES;
  const dataLength = fixed + texts;
  const call = expectedGas(gas, { command, dataLength, slots: UNKNOWN_SLOTS, toWallet: false });
  const shared = TRANSACTION_GAS + targetGas(gas) + gas.newSlot;
  return Math.ceil(call + ITEM + TEXT_BYTE * texts + shared / SMALL_BATCH);
}

/** The texts in a command's calldata. */
function textsOf(command: Command): string[] {
  switch (command.kind) {
    case "create-collection":
      return [command.name, command.symbol, command.baseUri ?? "", command.collectionUri ?? ""];
    case "create-erc1155":
      return [command.uri ?? ""];
    default:
      return [];
  }
}

function along({ base, each }: LinearGas, length: number): number {
  return base + each * length;
}

function words(bytes: number): number {
  return Math.ceil(bytes / 32);
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
