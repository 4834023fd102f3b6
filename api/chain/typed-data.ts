import { TypedDataEncoder, type TypedDataDomain, type TypedDataField } from "ethers";

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

/** The digest that a wallet signs for `transferWithAuthorization` of a collection. */
export function transferAuthorizationDigest(
  chainId: bigint,
  collection: string,
  authorization: TransferAuthorization,
): string {
  return TypedDataEncoder.hash(monetaDomain(chainId, collection), TRANSFER_AUTHORIZATION_TYPES, authorization);
}

/** The digest that a wallet signs so that its delegate executes a call. */
export function executionDigest(chainId: bigint, wallet: string, execution: Execution): string {
  return TypedDataEncoder.hash(monetaDomain(chainId, wallet), EXECUTION_TYPES, execution);
}
