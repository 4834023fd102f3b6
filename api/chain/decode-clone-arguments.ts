import { dataSlice, getAddress, getBytes, ZeroAddress } from "ethers";

import type { CreateCollection, CollectionType } from "../domain/command.ts";
import { ALLOWED_FLAGS, CLONE_FLAGS, MAX_MAX_SUPPLY } from "./clone-arguments.ts";
import { textOfBytes } from "./text.ts";

/**
 * Decodes what `clone-arguments.ts` encodes. Metadata that is not on chain is missing.
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
