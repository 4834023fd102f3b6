import { concat, dataLength, dataSlice, getAddress, getBytes, toBeHex, toUtf8Bytes, ZeroAddress } from "ethers";

import type { CollectionType, CreateCollection } from "../../domain/command.ts";
import { textOfBytes } from "../values.ts";

/**
 * Decodes the immutable arguments of a clone. Metadata that is not on chain is missing.
 * @throws RangeError for arguments that the factory refuses
 */
export function decodeCloneArguments(type: CollectionType, packed: string): CreateCollection {
  const bytes = getBytes(packed);
  let cursor = 0;
  const take = (length: number): string => {
    if (cursor + length > bytes.length) throw new RangeError("the clone arguments end too early");
    cursor += length;
    return dataSlice(packed, cursor - length, cursor);
  };
  const number = (length: number) => Number(BigInt(take(length)));
  const flags = number(1);
  if ((flags & ~ALLOWED_FLAGS[type]) !== 0) throw new RangeError(`unknown flags in the clone arguments: ${flags}`);
  const hosted = (flags & CLONE_FLAGS.hosted) !== 0;
  const newOwner = (flags & CLONE_FLAGS.owner) === 0 ? null : account(take(20));
  const royalty =
    (flags & CLONE_FLAGS.royalty) === 0
      ? {}
      : { seller_fee_basis_points: Number(within(BigInt(take(2)), 10_000n)), fee_recipient: account(take(20)) };
  const maxSupply = (flags & CLONE_FLAGS.maxSupply) === 0 ? null : Number(within(BigInt(take(8)), MAX_MAX_SUPPLY));
  const [nameLength, symbolLength, baseLength] = [number(2), number(2), hosted ? 0 : number(2)];
  const name = textOfBytes(take(nameLength));
  const symbol = textOfBytes(take(symbolLength));
  const baseUri = textOfBytes(take(baseLength));
  const collectionUri = textOfBytes(take(bytes.length - cursor));
  if (hosted && collectionUri !== "") throw new RangeError("bytes after the clone arguments of a hosted collection");
  return {
    kind: "create-collection",
    type,
    hosting: hosted ? "hosted" : "self-hosted",
    name,
    symbol,
    maxSupply,
    baseUri: hosted ? null : baseUri,
    collectionUri: hosted || collectionUri === "" ? null : collectionUri,
    metadata: royalty,
    newOwner,
    soulbound: (flags & CLONE_FLAGS.soulbound) !== 0,
  };
}

/** A value that is left out where it would be zero. */
function within(value: bigint, most: bigint): bigint {
  if (value === 0n || value > most) throw new RangeError(`a clone argument must be 1 to ${most}, not ${value}`);
  return value;
}

/** An address that is left out where it would be zero. */
function account(value: string): string {
  const address = getAddress(value);
  if (address === ZeroAddress) throw new RangeError("a clone argument is the zero address");
  return address;
}

/** Immutable arguments of both kinds of collections. Without an owner the relay's owner owns the collection. */
export interface Erc1155Arguments {
  readonly hosted: boolean;
  /** Whether the tokens can never be transferred. */
  readonly soulbound: boolean;
  readonly name: string;
  readonly symbol: string;
  readonly owner: string | null;
  /** In 1/10,000 of the price. Above 0 it needs a recipient. */
  readonly royaltyBps: number;
  readonly royaltyRecipient: string | null;
  /** Ignored for hosted collections: their URIs come from the service's hosted base. */
  readonly baseUri: string;
  readonly contractUri: string;
}

export interface Erc721Arguments extends Erc1155Arguments {
  /** 0 means unlimited. */
  readonly maxSupply: bigint;
}

/** Thrown when the values do not fit into a collection's immutable arguments. */
export class CloneArgumentsError extends Error {
  override readonly name = "CloneArgumentsError";
}

/** Contract code is limited to 24,576 bytes (EIP-170), and the clone itself takes 45. */
export const MAX_CLONE_ARGUMENTS_LENGTH = 24_576 - 45;

/** The largest cap; the value above it means unlimited inside the contract. */
export const MAX_MAX_SUPPLY = 2n ** 64n - 2n;

/** Bits of the first byte, as in `CloneArguments.sol`. */
const CLONE_FLAGS = { hosted: 1, owner: 2, royalty: 4, maxSupply: 8, soulbound: 16 } as const;

/** The flags that a collection of each type can have. */
const ALLOWED_FLAGS = { ERC721: 31, ERC1155: 31 - CLONE_FLAGS.maxSupply } as const;

/** Packs the immutable arguments of an ERC721 clone, as `CloneArguments.sol` unpacks them. Equal values have one encoding. */
export function encodeErc721Arguments(args: Erc721Arguments): string {
  return encodeArguments(args, args.maxSupply);
}

/** Packs the immutable arguments of an ERC1155 clone, as `CloneArguments.sol` unpacks them. */
export function encodeErc1155Arguments(args: Erc1155Arguments): string {
  return encodeArguments(args, 0n);
}

function encodeArguments(args: Erc1155Arguments, maxSupply: bigint): string {
  if (!Number.isInteger(args.royaltyBps) || args.royaltyBps < 0 || args.royaltyBps > 10_000) {
    throw new CloneArgumentsError(`A royalty must be 0 to 10,000 basis points, not ${args.royaltyBps}.`);
  }
  if (args.royaltyBps > 0 && (args.royaltyRecipient === null || args.royaltyRecipient === ZeroAddress)) {
    throw new CloneArgumentsError("A royalty above 0 needs a recipient.");
  }
  if (args.owner === ZeroAddress) throw new CloneArgumentsError("The owner cannot be the zero address.");
  if (maxSupply < 0n || maxSupply > MAX_MAX_SUPPLY) {
    throw new CloneArgumentsError(`The supply cap must be 0 to ${MAX_MAX_SUPPLY}, not ${maxSupply}.`);
  }

  // Absent fields take no bytes: each byte costs 200 gas.
  const head: string[] = [];
  let flags = (args.hosted ? CLONE_FLAGS.hosted : 0) | (args.soulbound ? CLONE_FLAGS.soulbound : 0);
  if (args.owner !== null) {
    flags |= CLONE_FLAGS.owner;
    head.push(args.owner);
  }
  if (args.royaltyBps > 0 && args.royaltyRecipient !== null) {
    flags |= CLONE_FLAGS.royalty;
    head.push(toBeHex(args.royaltyBps, 2), args.royaltyRecipient);
  }
  if (maxSupply > 0n) {
    flags |= CLONE_FLAGS.maxSupply;
    head.push(toBeHex(maxSupply, 8));
  }

  // A hosted collection has no URIs of its own.
  const measured = [args.name, args.symbol, ...(args.hosted ? [] : [args.baseUri])].map((text) => toUtf8Bytes(text));
  const contractUri = toUtf8Bytes(args.hosted ? "" : args.contractUri);
  const [top, texts] = [concat(head), concat([...measured, contractUri])];
  const total = 1 + dataLength(top) + 2 * measured.length + dataLength(texts);
  if (total > MAX_CLONE_ARGUMENTS_LENGTH) {
    throw new CloneArgumentsError(
      `Name, symbol and URIs need ${total} bytes together, and a contract can hold ${MAX_CLONE_ARGUMENTS_LENGTH}. Shorten them.`,
    );
  }
  return concat([toBeHex(flags, 1), top, ...measured.map(({ length }) => toBeHex(length, 2)), texts]);
}
