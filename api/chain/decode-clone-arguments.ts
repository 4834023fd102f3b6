import { dataSlice, getAddress, getBytes } from "ethers";

import type { CreateCollection, CollectionType } from "../domain/command.ts";
import { CLONE_FLAGS } from "./clone-arguments.ts";
import { textOfBytes } from "./text.ts";

/** Decodes what `clone-arguments.ts` encodes. Metadata that is not on chain is missing. */
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
  const hosted = (flags & CLONE_FLAGS.hosted) !== 0;
  const newOwner = (flags & CLONE_FLAGS.owner) === 0 ? null : getAddress(take(20));
  const royalty =
    (flags & CLONE_FLAGS.royalty) === 0
      ? {}
      : { seller_fee_basis_points: number(2), fee_recipient: getAddress(take(20)) };
  const maxSupply = (flags & CLONE_FLAGS.maxSupply) === 0 ? null : number(8);
  const [nameLength, symbolLength, baseLength] = [number(2), number(2), hosted ? 0 : number(2)];
  const name = textOfBytes(take(nameLength));
  const symbol = textOfBytes(take(symbolLength));
  const baseUri = textOfBytes(take(baseLength));
  const collectionUri = textOfBytes(take(bytes.length - cursor));
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
  };
}
