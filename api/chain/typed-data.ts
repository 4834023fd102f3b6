import { id, keccak256, TypedDataEncoder, type TypedDataDomain, type TypedDataField } from "ethers";

import { addressWord, hexDigits, uintWord } from "./abi-words.ts";

/** A wallet's authorization of one transfer in one of the service's collections. */
export interface TransferAuthorization {
  readonly from: string;
  readonly to: string;
  readonly tokenId: bigint;
  /** Always 1 for ERC721. */
  readonly amount: bigint;
  /** The request number under which the relay runs the transfer. */
  readonly number: bigint;
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

type Types = Record<string, TypedDataField[]>;

export const TRANSFER_AUTHORIZATION_TYPES: Types = {
  TransferAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "tokenId", type: "uint256" },
    { name: "amount", type: "uint256" },
    { name: "number", type: "uint256" },
  ],
};

export const EXECUTION_TYPES: Types = {
  Execution: [
    { name: "relay", type: "address" },
    { name: "target", type: "address" },
    { name: "data", type: "bytes" },
    { name: "number", type: "uint256" },
  ],
};

/** The EIP-712 domain of a collection, or of a wallet with a delegate. */
export function monetaDomain(chainId: bigint, verifyingContract: string): TypedDataDomain {
  return { name: "Moneta", version: "1", chainId, verifyingContract };
}

const DOMAIN_TYPE = typeHash("EIP712Domain", {
  EIP712Domain: [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ],
});
const DOMAIN_START = DOMAIN_TYPE + hexDigits(id("Moneta")) + hexDigits(id("1"));
const TRANSFER_AUTHORIZATION_TYPE = typeHash("TransferAuthorization", TRANSFER_AUTHORIZATION_TYPES);
const EXECUTION_TYPE = typeHash("Execution", EXECUTION_TYPES);

/** The digest that a wallet signs for `transferWithAuthorization` of a collection. */
export function transferAuthorizationDigest(
  chainId: bigint,
  collection: string,
  { from, to, tokenId, amount, number }: TransferAuthorization,
): string {
  const fields = addressWord(from) + addressWord(to) + uintWord(tokenId) + uintWord(amount) + uintWord(number);
  return digest(chainId, collection, TRANSFER_AUTHORIZATION_TYPE + fields);
}

/** The digest that a wallet signs so that its delegate executes a call. */
export function executionDigest(chainId: bigint, wallet: string, { relay, target, data, number }: Execution): string {
  const fields = addressWord(relay) + addressWord(target) + hashWord(hexDigits(data)) + uintWord(number);
  return digest(chainId, wallet, EXECUTION_TYPE + fields);
}

/** EIP-712 by hand, because `TypedDataEncoder` reads the types anew for every digest. */
function digest(chainId: bigint, verifyingContract: string, struct: string): string {
  const domain = hashWord(DOMAIN_START + uintWord(chainId) + addressWord(verifyingContract));
  return `0x${hashWord(`1901${domain}${hashWord(struct)}`)}`;
}

function typeHash(name: string, types: Types): string {
  return hexDigits(id(TypedDataEncoder.from(types).encodeType(name)));
}

/** The Keccak-256 hash of bytes in hex, both without 0x. */
function hashWord(digits: string): string {
  return keccak256(Buffer.from(digits, "hex")).slice(2);
}
