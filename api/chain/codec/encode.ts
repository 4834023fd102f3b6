import {
  concat,
  keccak256,
  type SigningKey,
  type TypedDataDomain,
  TypedDataEncoder,
  type TypedDataField,
} from "ethers";

import { type Command, type CreateCollection, isDelegated, type WalletCommand } from "../../domain/command.ts";
import { frozenUris } from "../../domain/metadata-files.ts";
import { remember } from "../../shared/bounded-map.ts";
import { signCompact } from "../../shared/crypto.ts";
import { abi } from "../abi.ts";
import type { ContractAddresses } from "../contracts.ts";
import { encodeErc1155Arguments, encodeErc721Arguments } from "./clone-arguments.ts";

/** Selectors of the calls that a busy service makes for every request. These calls are encoded by hand. */
const SELECTORS = {
  mint721: abi.erc721.getFunction("mint").selector,
  mintToWallet: abi.erc721.getFunction("mintToWallet").selector,
  mint1155: abi.erc1155.getFunction("mint").selector,
  transfer721: abi.erc721.getFunction("transferWithAuthorization").selector,
  transfer1155: abi.erc1155.getFunction("transferWithAuthorization").selector,
  burn721: abi.erc721.getFunction("burnWithAuthorization").selector,
  burn1155: abi.erc1155.getFunction("burnWithAuthorization").selector,
} as const;

/** Where and under which number a call will run. A wallet's signature covers all of it. */
export interface CallSite {
  chainId: bigint;
  contracts: ContractAddresses;
  number: bigint;
}

/**
 * Encodes a command that needs no wallet signature.
 * @param toWallet whether the recipient is a wallet of the service. Such a wallet accepts every token, so the receiver check
 *   is skipped, which saves 2,600 gas for the first access of an account.
 */
export function encodeServiceCall(
  command: Exclude<Command, WalletCommand>,
  contracts: ContractAddresses,
  toWallet = false,
): EncodedCall {
  if (command.kind === "create-collection")
    return { target: contracts.factories[0].address, data: encodeCreate(command) };
  return { target: command.collection, data: encodeForCollection(command, toWallet) };
}

function encodeForCollection(command: Exclude<Command, WalletCommand | CreateCollection>, toWallet: boolean): string {
  switch (command.kind) {
    case "mint-erc721":
      return wordCall(toWallet ? SELECTORS.mintToWallet : SELECTORS.mint721, addressWord(command.to));
    case "create-erc1155": {
      const { to, tokenId, quantity, uri } = command;
      return abi.erc1155.encodeFunctionData("create", [to, tokenId, quantity, uri ?? ""]);
    }
    case "mint-erc1155": {
      const [tokenId, quantity] = [BigInt(command.tokenId), BigInt(command.quantity)];
      return wordCall(SELECTORS.mint1155, addressWord(command.to), uintWord(tokenId), uintWord(quantity));
    }
    case "announce-metadata":
      return command.tokenId === null
        ? abi.erc721.encodeFunctionData("announceContractURIUpdate")
        : abi.erc721.encodeFunctionData("announceMetadataUpdate", [command.tokenId, command.tokenId]);
    case "freeze-metadata": {
      if (command.directory === null) throw new Error("the directory of the frozen metadata is not stored yet");
      const { baseUri, collectionUri } = frozenUris(command.type, command.directory);
      return abi.erc721.encodeFunctionData("freezeMetadataAt", [baseUri, collectionUri]);
    }
  }
}

/** Encodes a transfer or a burn, with the wallet's signature over exactly this command and request number. */
export function encodeWalletCall(command: WalletCommand, wallet: SigningKey, site: CallSite): EncodedCall {
  return isDelegated(command) ? encodeDelegated(command, wallet, site) : encodeAuthorized(command, wallet, site);
}

function encodeAuthorized(command: WalletCommand, wallet: SigningKey, { chainId, number }: CallSite): EncodedCall {
  const { contract, contractType: type, from } = command;
  const [tokenId, amount] = [BigInt(command.tokenId), BigInt(command.quantity)];
  const burn = { from, tokenId, amount, number };
  const token = type === "ERC721" ? [uintWord(tokenId)] : [uintWord(tokenId), uintWord(amount)];
  const [digest, selector, parties] =
    command.kind === "transfer"
      ? [
          transferAuthorizationDigest(chainId, contract, { ...burn, to: command.to }),
          type === "ERC721" ? SELECTORS.transfer721 : SELECTORS.transfer1155,
          [from, command.to],
        ]
      : [
          burnAuthorizationDigest(chainId, contract, burn),
          type === "ERC721" ? SELECTORS.burn721 : SELECTORS.burn1155,
          [from],
        ];
  const words = [...parties.map(addressWord), ...token, signCompact(wallet, digest)];
  return { target: contract, data: wordCall(selector, ...words) };
}

/** The wallet calls the foreign contract through its delegate's code (EIP-7702). */
function encodeDelegated(command: WalletCommand, wallet: SigningKey, site: CallSite): EncodedCall {
  const inner = encodeForeignCall(command);
  const digest = executionDigest(site.chainId, command.from, {
    relay: site.contracts.relay,
    target: command.contract,
    data: inner,
    number: site.number,
  });
  const signature = signCompact(wallet, digest);
  const [r, vs] = [`0x${signature.slice(0, 64)}`, `0x${signature.slice(64)}`];
  return { target: command.from, data: abi.delegate.encodeFunctionData("execute", [command.contract, inner, r, vs]) };
}

/** The call of a wallet to a contract that transfers or burns its token: the functions that contracts of others have, too. */
export function encodeForeignCall(command: WalletCommand): string {
  const { contractType, from, tokenId, quantity } = command;
  if (command.kind === "burn") {
    return contractType === "ERC721"
      ? abi.erc721.encodeFunctionData("burn", [tokenId])
      : abi.erc1155.encodeFunctionData("burn", [from, tokenId, quantity]);
  }
  return contractType === "ERC721"
    ? abi.erc721.encodeFunctionData("safeTransferFrom(address,address,uint256)", [from, command.to, tokenId])
    : abi.erc1155.encodeFunctionData("safeTransferFrom", [from, command.to, tokenId, quantity, "0x"]);
}

function encodeCreate(command: CreateCollection): string {
  const { seller_fee_basis_points: basisPoints = 0, fee_recipient: recipient = null } = command.metadata;
  const common = {
    hosted: command.hosting === "hosted",
    soulbound: command.soulbound,
    name: command.name,
    symbol: command.symbol,
    owner: command.newOwner,
    // ERC-2981 requires a receiver, so a fee without one is only in the metadata.
    royaltyBps: recipient === null ? 0 : basisPoints,
    royaltyRecipient: recipient,
    baseUri: command.baseUri ?? "",
    contractUri: command.collectionUri ?? "",
  };
  return command.type === "ERC721"
    ? abi.factory.encodeFunctionData("createERC721", [
        encodeErc721Arguments({ ...common, maxSupply: BigInt(command.maxSupply ?? 0) }),
      ])
    : abi.factory.encodeFunctionData("createERC1155", [encodeErc1155Arguments(common)]);
}

// ABI encoding by hand for the few calls that are made for every request. The encoder of ethers is general and takes over
// 0.1 ms per call. Tests compare every result with it. Everything here is hex without 0x.

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/;

/** A number of at most `bits` bits, as one word. @throws RangeError when it does not fit. */
export function uintWord(value: bigint, bits = 256): string {
  if (value < 0n || value >> BigInt(bits) !== 0n)
    throw new RangeError(`${value.toString()} is not a number of ${bits.toString()} bits (uint${bits.toString()})`);
  return value.toString(16).padStart(64, "0");
}

/** @throws TypeError when it is not an address. */
export function addressWord(address: string): string {
  if (!ADDRESS.test(address)) throw new TypeError(`${JSON.stringify(address)} is not an address`);
  return address.slice(2).toLowerCase().padStart(64, "0");
}

/** A value of type `bytes`: its length, then its content in whole words. @throws TypeError when it is not bytes in hex. */
function bytesWords(bytes: string): string {
  if (!BYTES.test(bytes)) throw new TypeError(`${JSON.stringify(bytes)} is not bytes in hex`);
  const digits = bytes.slice(2).toLowerCase();
  return uintWord(BigInt(digits.length / 2)) + digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
}

/** A call whose arguments are whole words. @param selector the first 4 bytes of the calldata, with 0x. */
export function wordCall(selector: string, ...words: readonly string[]): string {
  return selector + words.join("");
}

/** The data of one contract call, and the contract that it calls. */
export interface EncodedCall {
  target: string;
  data: string;
}

/** One call of a batch, with its request number and the gas it may use. */
interface BatchCall extends EncodedCall {
  number: bigint;
  gasLimit: number;
}

const EXECUTE = abi.relay.getFunction("execute").selector;
const WORD = 64;
/** Where `data` begins in a call: after number, target, gas limit and this offset itself. */
const DATA_OFFSET = uintWord(4n * 32n);

/** The data of one `Relay.execute` that runs the calls in order. */
export function encodeBatch(calls: readonly BatchCall[]): string {
  const tuples = calls.map(
    ({ number, target, gasLimit, data }) =>
      uintWord(number) + addressWord(target) + uintWord(BigInt(gasLimit), 32) + DATA_OFFSET + bytesWords(data),
  );
  let offset = calls.length * WORD;
  const offsets = tuples.map((tuple) => {
    const own = uintWord(BigInt(offset / 2));
    offset += tuple.length;
    return own;
  });
  return [EXECUTE, uintWord(32n), uintWord(BigInt(calls.length)), ...offsets, ...tuples].join("");
}

/** A wallet's authorization of one burn in one of the service's collections. */
export interface BurnAuthorization {
  readonly from: string;
  readonly tokenId: bigint;
  /** Always 1 for ERC721. */
  readonly amount: bigint;
  /** The request number under which the relay runs the call. */
  readonly number: bigint;
}

/** A wallet's authorization of one transfer in one of the service's collections. */
export interface TransferAuthorization extends BurnAuthorization {
  readonly to: string;
}

/** A wallet's authorization of one call in its name, for tokens of foreign contracts. */
export interface Execution {
  readonly relay: string;
  readonly target: string;
  /** The calldata, as hex. */
  readonly data: string;
  /** The request number under which the relay runs the call. */
  readonly number: bigint;
}

/** An EIP-712 type with its fields. */
function typed(name: string, ...fields: readonly [type: string, name: string][]): Record<string, TypedDataField[]> {
  return { [name]: fields.map(([type, field]) => ({ name: field, type })) };
}

const MOVED = [
  ["uint256", "tokenId"],
  ["uint256", "amount"],
  ["uint256", "number"],
] satisfies [string, string][];
export const TRANSFER_AUTHORIZATION_TYPES = typed(
  "TransferAuthorization",
  ["address", "from"],
  ["address", "to"],
  ...MOVED,
);
export const BURN_AUTHORIZATION_TYPES = typed("BurnAuthorization", ["address", "from"], ...MOVED);
export const EXECUTION_TYPES = typed(
  "Execution",
  ["address", "relay"],
  ["address", "target"],
  ["bytes", "data"],
  ["uint256", "number"],
);

/** The EIP-712 domain of a collection, or of a wallet with a delegate. */
export function monetaDomain(chainId: bigint, verifyingContract: string): TypedDataDomain {
  return { name: "Moneta", version: "1", chainId, verifyingContract };
}

/** Remembers domain hashes: a batch has many authorizations for few collections, and a domain takes as long to hash as one. */
const domainHash = remember(1_000, (domain: string) => {
  const [chainId = "", verifyingContract = ""] = domain.split(" ");
  return TypedDataEncoder.hashDomain(monetaDomain(BigInt(chainId), verifyingContract));
});

/** The digest that a wallet signs. */
type Digest<Value> = (chainId: bigint, verifyingContract: string, value: Value) => string;

function digestOf(types: Record<string, TypedDataField[]>): Digest<object> {
  const encoder = TypedDataEncoder.from(types);
  return (chainId, verifyingContract, value) =>
    keccak256(concat(["0x1901", domainHash(`${chainId.toString()} ${verifyingContract}`), encoder.hash(value)]));
}

/** For `transferWithAuthorization` of a collection. */
export const transferAuthorizationDigest: Digest<TransferAuthorization> = digestOf(TRANSFER_AUTHORIZATION_TYPES);
/** For `burnWithAuthorization` of a collection. */
export const burnAuthorizationDigest: Digest<BurnAuthorization> = digestOf(BURN_AUTHORIZATION_TYPES);
/** For a call of a wallet's delegate. */
export const executionDigest: Digest<Execution> = digestOf(EXECUTION_TYPES);
