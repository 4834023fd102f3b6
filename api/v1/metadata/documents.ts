import { getAddress } from "ethers";

import { MAX_TOKEN_ID } from "../../domain/numbers.ts";
import { collectionMetadata } from "../../shared/metadata-documents.ts";
import { findCollection, type StoredCollection } from "../../store/listings/collections.ts";
import type { Db } from "../../store/db/sql.ts";
import { confirmedBlock, findMintedNft } from "../../store/listings/nfts.ts";
import { presentMetadata } from "../present.ts";

export interface Document {
  content: object;
  /** Whether the block of the mint is final. Before that the document must not be cached. */
  final: boolean;
}

/** @returns null when there is no such hosted collection. */
export async function collectionDocument(db: Db, address: string): Promise<Document | null> {
  const collection = await findHosted(db, address);
  if (collection === null) return null;
  return { content: collectionMetadata(collection), final: collection.listed === 1 };
}

/** @returns null when there is no such token with hosted metadata. */
export async function tokenDocument(db: Db, address: string, tokenId: string): Promise<Document | null> {
  const id = readTokenId(tokenId);
  const collection = id === null ? null : await findHosted(db, address);
  if (id === null || collection === null) return null;
  const confirmed = await confirmedBlock(db);
  const nft = await findMintedNft(db, collection.address, id);
  if (nft?.metadata == null || nft.minted_block === null || nft.supply === "0") return null;
  return { content: presentMetadata(nft.metadata, id), final: nft.minted_block <= confirmed };
}

async function findHosted(db: Db, text: string): Promise<StoredCollection | null> {
  const address = readAddress(text);
  const collection = address === null ? undefined : await findCollection(db, address);
  return collection?.hosting === "hosted" ? collection : null;
}

function readAddress(text: string): string | null {
  // Links may have changed the case of letters, so the checksum is not checked here.
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? getAddress(text.toLowerCase()) : null;
}

/** Exactly 64 digits are hexadecimal, as ERC-1155 clients write an id; anything else is decimal. */
function readTokenId(text: string): string | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return BigInt(`0x${text}`).toString();
  if (!/^[0-9]{1,78}$/.test(text) || BigInt(text) > MAX_TOKEN_ID) return null;
  return BigInt(text).toString();
}
