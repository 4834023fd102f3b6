import { AbiCoder, computeAddress, concat, dataLength, dataSlice, getAddress, id, SigningKey } from "ethers";

import { GasProbe__factory } from "../../contracts/generated/factories/GasProbe__factory.ts";
import type {
  CollectionStorage,
  CollectionType,
  Command,
  CreateCollection,
  Transfer,
  WalletCommand,
} from "../domain/command.ts";
import {
  type CalldataFloor,
  type Erc721Gas,
  type GasMeasurement,
  type LinearGas,
  MAX_TRANSACTION_GAS,
  measurementFromSlotPrice,
  UNMEASURED_GAS,
} from "../domain/gas-estimate.ts";
import { abi } from "./abi.ts";
import { addressOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";
import { measureL1Data } from "./l1-data.ts";
import { type CallSite, type EncodedCall, encodeServiceCall, encodeWalletCall, uintWord } from "./codec/encode.ts";
import type { ContractAddresses } from "./contracts.ts";

/** The smallest gas limit of a transaction that is tried. */
const LEAST_TRANSACTION_GAS = 2_000_000;
/** The gas of one more cancelled number, besides the new slot of the relay's bitmap: its calldata and its event. */
const CANCEL_OVERHEAD = 2_000;
const CANCEL_GAS = 2_000_000;
/** Bytes of calldata whose price is asked for. Many: some nodes round their estimates up by a part of the whole. */
const FLOOR_BYTES = 4_096;
const FLOOR_GAS = 2_000_000;

/**
 * Measures what the service's calls cost on the connected chain. Sends nothing and needs no funds.
 * @param operator an account that may send batches.
 * @returns null when the node supports no way to measure.
 * @throws ChainUnavailable
 */
export async function measureGas(
  client: ChainClient,
  service: { contracts: ContractAddresses; chainId: bigint; operator: string },
): Promise<GasMeasurement | null> {
  const { contracts, chainId, operator } = service;
  const calls =
    (await measureCalls(client, contracts, chainId)) ??
    (await estimateFromSlotPrice(client, contracts.relay, operator));
  if (calls === null) return null;
  const floor = (await calldataFloor(client, operator)) ?? UNMEASURED_GAS.floor;
  return { ...calls, floor, l1: await measureL1Data(client), transactionGas: await transactionGas(client) };
}

/**
 * What calldata costs at least, as the estimates for plain calldata to an account without code show: nothing, many zeros, and as
 * many other bytes. @returns null when the node does not estimate them
 */
async function calldataFloor(client: ChainClient, account: string): Promise<CalldataFloor | null> {
  const calls = ["", "00", "ff"].map((byte) => ({ from: account, to: account, data: `0x${byte.repeat(FLOOR_BYTES)}` }));
  const estimates = (await client.estimateNext(calls, FLOOR_GAS)).flatMap((gas) => (gas === null ? [] : Number(gas)));
  const [base, zeros, others] = estimates;
  if (base === undefined || zeros === undefined || others === undefined) return null;
  const priceOf = (gas: number) => Math.max(0, Math.ceil((gas - base) / FLOOR_BYTES));
  return { base, zero: priceOf(zeros), other: priceOf(others) };
}

/**
 * Without state overrides only calls that need no collection can be estimated. The difference between cancelling two numbers
 * and one is a new slot of the relay's bitmap.
 */
async function estimateFromSlotPrice(
  client: ChainClient,
  relay: string,
  operator: string,
): Promise<GasMeasurement | null> {
  const numbers = [1n << 255n, (1n << 255n) + 256n];
  const calls = [numbers.slice(0, 1), numbers].map((cancelled) => ({
    from: operator,
    to: relay,
    data: abi.relay.encodeFunctionData("cancel", [cancelled]),
  }));
  const [one, two] = await client.simulateCalls(calls, await client.headNumber(), CANCEL_GAS);
  if (one == null || two == null || !("gas" in one) || !("gas" in two)) return null;
  return measurementFromSlotPrice(Number(two.gas - one.gas) - CANCEL_OVERHEAD);
}

/** The highest gas limit, up to that of EIP-7825, with which the node lets a transaction run. */
async function transactionGas(client: ChainClient): Promise<number> {
  for (let gas = MAX_TRANSACTION_GAS; gas >= LEAST_TRANSACTION_GAS; gas = Math.floor(gas / 2)) {
    if (await client.acceptsGas(gas)) return gas;
  }
  // A node that refuses all of them cannot tell.
  return MAX_TRANSACTION_GAS;
}

/** What the contracts' calls cost, without what their transaction costs. */
type CallGas = Omit<GasMeasurement, "floor" | "l1" | "transactionGas">;

/** Numbers of the probe's calls. Requests have smaller ones, so the probe's collections have addresses of their own. */
const FIRST_NUMBER = 1n << 255n;

/** A wallet without tokens or funds. It signs the transfers that are measured. */
const WALLET_KEY = new SigningKey(id("Moneta gas probe: wallet"));
const WALLET = computeAddress(WALLET_KEY);

/** Two lengths show how the gas grows with the length. In bytes. */
const SHORT = 32;
const LONG = 192;

/** The collections that the probe creates with the first factory. Their positions are the last digits of their numbers. */
const CREATED = [collection("ERC1155", SHORT), collection("ERC721", SHORT), collection("ERC721", LONG)] as const;

/** The position of the collection that it creates with a factory for the other storage, if there is one. */
const OTHER = 16;

type Prices = [newSlot: bigint, slotUpdate: bigint, account: bigint];

/**
 * Measures what the service's calls cost on top of the node's newest block. The probe runs in place of the relay's code, so
 * the real contracts run the real calls. Nothing is sent, and no funds are needed.
 * @returns null when the node cannot run a call with other code (a state override).
 * @throws ChainUnavailable
 */
async function measureCalls(
  client: ChainClient,
  contracts: ContractAddresses,
  chainId: bigint,
): Promise<CallGas | null> {
  const other = ofOtherStorage(contracts);
  const collections = await predictCollections(client, contracts, other);
  if (collections === null) return null;
  const steps: Record<Step, EncodedCall> & Partial<Record<OtherStep, EncodedCall>> = {
    ...planSteps(collections, contracts, chainId),
    ...(other === null ? {} : planOtherSteps(collections.at(-1) ?? "", other, chainId)),
  };
  const names = Object.keys(steps);
  const calls = Object.values(steps).map(({ target, data }, index) => ({ target, data: numbered(data, index) }));
  const code = concat([GasProbe__factory.bytecode, GasProbe__factory.createInterface().encodeDeploy([calls])]);
  const answer = await client.callWithCode(contracts.relay, code, MAX_TRANSACTION_GAS);
  const decoded = answer === null ? null : decode(answer);
  if (decoded?.used.length !== names.length) return null;
  const used = Object.fromEntries(names.map((name, index) => [name, Number(decoded.used[index])])) as Used;
  return toMeasurement(decoded.prices, used, steps, contracts.factories[0].storage);
}

/** The contracts with a factory for the other storage in place of the first one; null: there is none. */
function ofOtherStorage(contracts: ContractAddresses): ContractAddresses | null {
  const [{ storage }, ...others] = contracts.factories;
  const other = others.find((factory) => factory.storage !== storage);
  return other === undefined ? null : { ...contracts, factories: [other] };
}

/** The addresses at which the collections would be. Null: a factory does not answer. */
async function predictCollections(
  client: ChainClient,
  contracts: ContractAddresses,
  other: ContractAddresses | null,
): Promise<string[] | null> {
  const created = CREATED.map((command, index) => ({ command, index, by: contracts }));
  if (other !== null) created.push({ command: CREATED[1], index: OTHER, by: other });
  const answers = await client.tryCalls(
    created.map(({ command, index, by }) => ({ to: by.factories[0].address, data: prediction(command, by, index) })),
  );
  const addresses = answers.map(addressOf).filter((address) => address !== null);
  return addresses.length === created.length ? addresses : null;
}

function prediction(command: CreateCollection, contracts: ContractAddresses, index: number): string {
  const number = FIRST_NUMBER + BigInt(index);
  const { data } = encodeServiceCall(command, contracts);
  // `createERC721` and `createERC1155` have one argument, of the same type.
  const [args] = AbiCoder.defaultAbiCoder().decode(["bytes"], dataSlice(data, 4)) as unknown as [string];
  return command.type === "ERC721"
    ? abi.factory.encodeFunctionData("predictERC721", [number, args])
    : abi.factory.encodeFunctionData("predictERC1155", [number, args]);
}

type Step = keyof ReturnType<typeof planSteps>;
type OtherStep = keyof ReturnType<typeof planOtherSteps>;
type Used = Record<Step, number> & Partial<Record<OtherStep, number>>;

/** The measured calls. They run in this order, each on top of the ones before. */
function planSteps(collections: string[], contracts: ContractAddresses, chainId: bigint) {
  const [erc1155 = "", short721 = "", long721 = ""] = collections;
  const encode = (command: Exclude<Command, WalletCommand>) => encodeServiceCall(command, contracts);
  const mint = (to: string) => encode({ kind: "mint-erc721", collection: short721, to, metadata: null });
  const create = (tokenId: string, to: string, uri: string | null) =>
    encode({ kind: "create-erc1155", collection: erc1155, to, tokenId, quantity: "5", uri, metadata: null });
  const freeze = (target: string, length: number) =>
    encode({ kind: "freeze-metadata", collection: target, type: "ERC721", directory: "b".repeat(length) });
  const transfer = (index: number, contractType: CollectionType, contract: string, tokenId: string) =>
    transferOf({ contractType, contract, tokenId }, index, { contracts, chainId });
  return {
    // The first call also pays for the first access to the factory.
    createErc1155: encode(CREATED[0]),
    createShort: encode(CREATED[1]),
    createLong: encode(CREATED[2]),
    firstMintErc721: mint(account(3)),
    mintErc721: mint(account(4)),
    // The wallet keeps a token and copies: emptying a slot that the same transaction created would be cheaper.
    mintKept: mint(WALLET),
    mintMoved: mint(WALLET),
    createId: create("1", WALLET, null),
    createIdShort: create("2", account(8), "u".repeat(SHORT)),
    createIdLong: create("3", account(9), "u".repeat(LONG)),
    mintErc1155: encode({ kind: "mint-erc1155", collection: erc1155, to: account(10), tokenId: "1", quantity: "1" }),
    announceMetadata: encode({ kind: "announce-metadata", collection: short721, tokenId: "1" }),
    transferErc721: transfer(12, "ERC721", short721, "4"),
    transferErc1155: transfer(13, "ERC1155", erc1155, "1"),
    freezeShort: freeze(short721, SHORT),
    freezeLong: freeze(long721, LONG),
  } satisfies Record<string, EncodedCall>;
}

/** The calls that depend on the storage of an ERC721 collection, for the other storage. They come after all others. */
function planOtherSteps(short721: string, contracts: ContractAddresses, chainId: bigint) {
  const mint = (to: string) =>
    encodeServiceCall({ kind: "mint-erc721", collection: short721, to, metadata: null }, contracts);
  return {
    otherCreate: encodeServiceCall(CREATED[1], contracts),
    otherFirstMint: mint(account(OTHER + 1)),
    otherMint: mint(account(OTHER + 2)),
    // As above: the wallet keeps a token.
    otherMintKept: mint(WALLET),
    otherMintMoved: mint(WALLET),
    otherTransfer: transferOf({ contractType: "ERC721", contract: short721, tokenId: "4" }, OTHER + 5, {
      contracts,
      chainId,
    }),
  } satisfies Record<string, EncodedCall>;
}

/** A transfer by the wallet, as the call at a position. */
function transferOf(
  token: Pick<Transfer, "contract" | "contractType" | "tokenId">,
  index: number,
  at: Pick<CallSite, "contracts" | "chainId">,
): EncodedCall {
  const site: CallSite = { ...at, number: FIRST_NUMBER + BigInt(index) };
  const moved = { kind: "transfer", foreign: false, from: WALLET, to: account(index), quantity: "1" } as const;
  return encodeWalletCall({ ...moved, ...token }, WALLET_KEY, site);
}

function toMeasurement(
  [newSlot, slotUpdate, coldAccount]: Prices,
  used: Used,
  steps: Record<Step, EncodedCall>,
  storage: CollectionStorage,
): CallGas {
  const bytes = (step: Step) => dataLength(steps[step].data);
  const words = (step: Step) => Math.ceil(bytes(step) / 32);
  const create = line([bytes("createShort"), used.createShort], [bytes("createLong"), used.createLong]);
  // A URI also stores its length: one more word.
  const createId = line([SHORT / 32 + 1, used.createIdShort], [LONG / 32 + 1, used.createIdLong]);
  const first: Erc721Gas = used;
  const { otherFirstMint, otherMint, otherTransfer } = used;
  // Without a factory for the other storage there are no such collections, so estimated figures are enough for them.
  const scaled = measurementFromSlotPrice(Number(newSlot));
  const other =
    otherFirstMint === undefined || otherMint === undefined || otherTransfer === undefined
      ? null
      : { firstMintErc721: otherFirstMint, mintErc721: otherMint, transferErc721: otherTransfer };
  const standard = storage === "standard" ? first : (other ?? scaled);
  const compact = storage === "compact" ? first : (other ?? scaled.compact);
  return {
    newSlot: Number(newSlot),
    slotUpdate: Number(slotUpdate),
    account: Number(coldAccount),
    createCollection: { ...create, base: create.base + Math.max(0, used.createErc1155 - used.createShort) },
    firstMintErc721: standard.firstMintErc721,
    mintErc721: standard.mintErc721,
    compact: onlyErc721(compact),
    createErc1155: { ...createId, base: Math.max(createId.base, used.createId) },
    mintErc1155: used.mintErc1155,
    announceMetadata: used.announceMetadata,
    freezeMetadata: line([words("freezeShort"), used.freezeShort], [words("freezeLong"), used.freezeLong]),
    transferErc721: standard.transferErc721,
    transferErc1155: used.transferErc1155,
  };
}

function onlyErc721({ firstMintErc721, mintErc721, transferErc721 }: Erc721Gas): Erc721Gas {
  return { firstMintErc721, mintErc721, transferErc721 };
}

/** The line through two measured points. */
function line(short: [length: number, gas: number], long: [length: number, gas: number]): LinearGas {
  const each = Math.ceil((long[1] - short[1]) / (long[0] - short[0]));
  return { base: Math.max(0, short[1] - each * short[0]), each };
}

function decode(answer: string): { prices: Prices; used: bigint[] } | null {
  try {
    const types = ["tuple(uint256,uint256,uint256)", "uint256[]"];
    const [prices, used] = AbiCoder.defaultAbiCoder().decode(types, answer).toArray(true) as [Prices, bigint[]];
    return { prices, used };
  } catch {
    // A node that ignores the override runs the relay's own code, which answers something else.
    return null;
  }
}

/** The relay appends the request number to the data of each call. */
function numbered(data: string, index: number): string {
  return concat([data, `0x${uintWord(FIRST_NUMBER + BigInt(index))}`]);
}

/** An account that the chain has never seen. */
function account(index: number): string {
  return getAddress(`0x${id(`Moneta gas probe: account ${index.toString()}`).slice(-40)}`);
}

function collection(type: CollectionType, nameLength: number) {
  return {
    kind: "create-collection",
    type,
    hosting: "hosted",
    name: "n".repeat(nameLength),
    symbol: "S",
    maxSupply: type === "ERC721" ? 1_000 : null,
    baseUri: null,
    collectionUri: null,
    metadata: {},
    newOwner: null,
    soulbound: false,
  } satisfies CreateCollection;
}
