import { type CollectionStorage, type Command, isAdoptedMint, isDelegated } from "./command.ts";

/** The state of a storage slot before a call writes it. Only the first write to a slot is expensive. */
type SlotState =
  /** Nothing was ever written to it. */
  | "new"
  /** It was written before this transaction. */
  | "used"
  /** An earlier call of the same transaction wrote it, or read the same account. */
  | "written";

/** The states of the slots that a mint shares with other calls, and what else it reads. */
export interface MintSlots {
  /** Of the ERC721 collection. */
  storage: CollectionStorage;
  /** The recipient's balance. With compact storage: its word, which stays in use when its balance is zero again. */
  balance: SlotState;
  /** The supply of an ERC1155 id that exists, or the number of tokens of an ERC721 collection. */
  supply: SlotState;
  /** The length of the arguments that a mint of a soulbound ERC721 collection reads; null: it reads none. */
  soulbound: number | null;
}

export const UNKNOWN_SLOTS: MintSlots = { storage: "standard", balance: "new", supply: "used", soulbound: null };

/** Tokens whose owners compact storage keeps in one word. */
const LANES = 8;
/** Words that a search for a holder's key reads at most (compact storage), and one more that it changes. */
const SEARCHED_WORDS = 5;

/**
 * What a mint of a soulbound ERC721 collection needs beside a plain one: it emits one more event, and decodes the collection's
 * arguments, which it copies from the code.
 */
const SOULBOUND: LinearGas = { base: 3_400, each: 0.3 };
/** The measured announcement is ERC-4906. That of an ERC1155 token has its URI, which the collection reads from the relay. */
const URI_EVENT = 25_000;
/** Price of a change to a slot that the transaction has changed before: it is read and written. */
const WRITTEN_SLOT = 200;

/** A call, as far as its gas depends on it. */
export interface GasCall {
  command: Command;
  /** Bytes of its calldata. */
  dataLength: number;
  /** The states of a mint's slots, and what else it reads. */
  slots: MintSlots;
  /** Whether a mint's recipient is a wallet of the service: then the receiver check is skipped. */
  toWallet: boolean;
}

/** Expected gas of a call, without a receiver's code, its calldata, and what it shares with the others of its transaction. */
export function expectedGas(gas: GasMeasurement, { command, dataLength, slots, toWallet }: GasCall): number {
  // Other items of the measurement had already changed some of the slots, which makes them cheaper.
  const { slotUpdate, newSlot, account } = gas;
  // The code of others is not measured: it may store more. Its simulation shows what it needs.
  if (isAdoptedMint(command)) return gas.createErc1155.base + 3 * slotUpdate + 2 * newSlot + 10 * account;
  switch (command.kind) {
    case "create-collection":
      return along(gas.createCollection, dataLength);
    case "mint-erc721":
      return (
        figuresOf(gas, slots).mintErc721 +
        wordOfOwners(gas, slots) +
        (slots.soulbound === null ? 0 : along(SOULBOUND, slots.soulbound)) -
        savedByBalance(gas, slots) -
        (toWallet && slots.balance !== "written" ? account : 0)
      );
    case "create-erc1155":
      return along(gas.createErc1155, command.uri === null ? 0 : words(bytesOf(command.uri)) + 1);
    case "mint-erc1155":
      return (slots.supply === "written" ? 0 : slotUpdate) + gas.mintErc1155 - savedByBalance(gas, slots);
    case "announce-metadata":
      return (
        slotUpdate + gas.announceMetadata + (command.type === "ERC1155" && command.tokenId !== null ? URI_EVENT : 0)
      );
    case "freeze-metadata":
      return slotUpdate + along(gas.freezeMetadata, words(dataLength));
    case "transfer":
    case "burn": {
      const transfer = command.contractType === "ERC721" ? figuresOf(gas, slots).transferErc721 : gas.transferErc1155;
      // Unlike a transfer, a burn reads no receiver's account and writes no new balance slot. It counts the burnt token.
      const own = command.kind === "transfer" ? transfer : transfer - newSlot - account + slotUpdate;
      // What runs through a delegate is not measured: the contract may store more. Its simulation shows what it needs.
      return own + 3 * slotUpdate + (isDelegated(command) ? 2 * newSlot + 10 * account : 0);
    }
  }
}

function figuresOf(gas: GasMeasurement, { storage }: MintSlots): Erc721Gas {
  return storage === "compact" ? gas.compact : gas;
}

/**
 * Gas for a new word with the owners of neighbouring ids. The measured mint found its word in use. Every eighth mint opens a new
 * word, and so may the first mint of a transaction, whatever its id is.
 */
function wordOfOwners({ newSlot }: GasMeasurement, { storage, supply }: MintSlots): number {
  if (storage !== "compact") return 0;
  return supply === "written" ? newSlot / LANES : newSlot;
}

/**
 * What a call may need beyond its expected gas because of what others have done: with compact storage, they can take all keys of
 * the recipient. Its token is then in plain mappings, in one more new slot, and a mint may open a word for its id.
 */
export function unexpectedGas({ newSlot, slotUpdate }: GasMeasurement, { command, slots }: GasCall): number {
  if (slots.storage !== "compact") return 0;
  const newSlots = command.kind === "burn" ? 0 : command.kind === "transfer" ? 1 : 2;
  return newSlots * newSlot + SEARCHED_WORDS * slotUpdate;
}

/** How much less a mint costs than the measured one, whose recipient held nothing and was not accessed before. */
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
/** Costs that all requests of a transaction share are charged as if it carried this many requests. */
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
  const texts = textBytes(command);
  const fixed =
    command.kind === "create-collection"
      ? CREATION_BYTES
      : command.kind === "freeze-metadata"
        ? FREEZE_BYTES
        : CALL_BYTES;
  const dataLength = fixed + texts;
  const call = expectedGas(gas, { command, dataLength, slots: UNKNOWN_SLOTS, toWallet: false });
  const shared = TRANSACTION_GAS + targetGas(gas) + gas.newSlot + gas.l1.base;
  return Math.ceil(call + ITEM + TEXT_BYTE * texts + gas.l1.other * dataLength + shared / SMALL_BATCH);
}

/** The relayer counts a call's gas twice: as what the transaction is expected to use, and as the call's limit. With margins. */
const COUNTED = 2.08;
/** What it keeps free in addition: headroom for the call, and the relay's reserve. */
const KEPT_FREE = 2_200_000;
/** `GAS_RESERVE` of the relay. */
export const RELAY_GAS_RESERVE = 300_000;
/** Bytes among the arguments of a new collection that are not texts. */
const ARGUMENT_BYTES = 200;

/** The most bytes that the texts of a new collection may have, so that its request fits into a transaction of the chain. */
export function mostCollectionBytes(gas: GasMeasurement): number {
  const { base, each } = gas.createCollection;
  const fixed = TRANSACTION_GAS + KEPT_FREE + gas.newSlot + targetGas(gas) + COUNTED * base + L1_MARGIN * gas.l1.base;
  const left = gas.transactionGas - fixed;
  const byte = COUNTED * each + TEXT_BYTE + L1_MARGIN * gas.l1.other;
  return Math.max(0, Math.floor(left / byte) - ARGUMENT_BYTES);
}

/** The bytes of the texts that a command brings to the chain. */
export function textBytes(command: Command): number {
  return bytesOf(textsOf(command).join(""));
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

/** Gas that grows with a length: `base + each * length`. */
export interface LinearGas {
  base: number;
  each: number;
}

/**
 * The least that a transaction costs, whatever it does: `base`, and a price for each zero and each other byte of its calldata
 * (EIP-7623, EIP-7976). A transaction with a lower gas limit is refused.
 */
export interface CalldataFloor {
  base: number;
  zero: number;
  other: number;
}

/**
 * What a rollup charges for writing a transaction to Ethereum (L1). Arbitrum charges gas: for a transaction without calldata, and
 * for each zero and each other byte. The OP stack and Scroll charge a fee beside the gas.
 */
export interface L1Data extends CalldataFloor {
  /** The fee of a mint in a full batch, in wei. */
  itemFee: number;
}

/** Of a chain that charges nothing for it. */
export const NO_L1_DATA: L1Data = { base: 0, zero: 0, other: 0, itemFee: 0 };

/**
 * A transaction gets this many times the gas that its L1 data costs now, because the price can change until it is mined. Gas that
 * is left is not paid. A transaction with less gas than the price is not mined.
 */
export const L1_MARGIN = 2;

/** What calls of an ERC721 collection cost, by its storage. */
export interface Erc721Gas {
  /** The first mint of a collection also creates the slot that counts its tokens. */
  firstMintErc721: number;
  mintErc721: number;
  transferErc721: number;
}

/** What the service's calls cost on the connected chain. Each figure is the gas of one call, without its transaction. */
export interface GasMeasurement extends Erc721Gas {
  /** The first write to a storage slot. */
  newSlot: number;
  /** A change of a slot that is in use. */
  slotUpdate: number;
  /** The first access to an account in a transaction. */
  account: number;
  /** By the bytes of the calldata: they become a part of the collection's code. */
  createCollection: LinearGas;
  /** Of collections with compact storage. The figures beside it are those of standard storage. */
  compact: Erc721Gas;
  /** By the 32-byte words of the token's own URI. */
  createErc1155: LinearGas;
  mintErc1155: number;
  announceMetadata: number;
  /** By the 32-byte words of the calldata: it contains the URIs, which are stored. */
  freezeMetadata: LinearGas;
  transferErc1155: number;
  floor: CalldataFloor;
  l1: L1Data;
  /** The highest gas limit that a transaction can have. */
  transactionGas: number;
}

/**
 * EIP-7825: the highest gas limit of a transaction. It applies to chains without this rule, too: they get it with a hard
 * fork, and a transaction that was signed with a higher limit would never be mined.
 */
export const MAX_TRANSACTION_GAS = 16_777_216;

/** Measured under the rules of the Osaka hard fork. */
const OSAKA: GasMeasurement = {
  newSlot: 22_108,
  slotUpdate: 5_012,
  account: 2_610,
  createCollection: { base: 28_549, each: 202 },
  firstMintErc721: 77_080,
  mintErc721: 50_639,
  compact: { firstMintErc721: 77_543, mintErc721: 29_212, transferErc721: 34_020 },
  createErc1155: { base: 54_460, each: 22_450 },
  mintErc1155: 29_714,
  announceMetadata: 8_331,
  freezeMetadata: { base: 0, each: 22_734 },
  transferErc721: 33_249,
  transferErc1155: 34_546,
  floor: { base: 21_000, zero: 10, other: 40 },
  l1: NO_L1_DATA,
  transactionGas: MAX_TRANSACTION_GAS,
};

/** Bytes that a new slot counts as where the chain charges for the growth of its state (EIP-8037). */
const SLOT_BYTES = 64;

/**
 * The figures for a node that tells only what a new slot costs: those of Osaka, and the difference for each slot and each
 * byte that a call adds to the chain's state.
 */
export function measurementFromSlotPrice(newSlot: number): GasMeasurement {
  const more = Math.max(0, newSlot - OSAKA.newSlot);
  const linear = ({ base, each }: LinearGas, slots: number, slotsEach: number): LinearGas => ({
    base: base + Math.ceil(slots * more),
    each: each + Math.ceil(slotsEach * more),
  });
  return {
    ...OSAKA,
    newSlot: OSAKA.newSlot + more,
    // The new account counts as 120 bytes.
    createCollection: linear(OSAKA.createCollection, 2.5, 1.1 / SLOT_BYTES),
    firstMintErc721: OSAKA.firstMintErc721 + 3 * more,
    mintErc721: OSAKA.mintErc721 + 2 * more,
    compact: {
      firstMintErc721: OSAKA.compact.firstMintErc721 + 3 * more,
      mintErc721: OSAKA.compact.mintErc721 + more,
      transferErc721: OSAKA.compact.transferErc721 + more,
    },
    createErc1155: linear(OSAKA.createErc1155, 2, 1),
    mintErc1155: OSAKA.mintErc1155 + more,
    freezeMetadata: linear(OSAKA.freezeMetadata, 1, 1),
    transferErc721: OSAKA.transferErc721 + more,
    transferErc1155: OSAKA.transferErc1155 + more,
  };
}

/** The figures until the chain was measured for the first time. */
export const UNMEASURED_GAS: GasMeasurement = measurementFromSlotPrice(OSAKA.newSlot);
