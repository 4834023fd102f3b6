import type { CollectionMetadata, CollectionType, TokenMetadata } from "./command.ts";

/** File name of a frozen collection's own metadata in its directory. */
export const COLLECTION_FILE = "collection.json";

/** File name of a token's metadata: what clients append to the base URI (ERC721), or put in place of its `{id}` (ERC1155). */
export function tokenFile(type: CollectionType, tokenId: string): string {
  return type === "ERC721" ? tokenId : BigInt(tokenId).toString(16).padStart(64, "0");
}

/** The URIs of a frozen collection. @param directory CID of its metadata. */
export function frozenUris(type: CollectionType, directory: string): { baseUri: string; collectionUri: string } {
  return {
    baseUri: `ipfs://${directory}/${type === "ERC721" ? "" : "{id}"}`,
    collectionUri: `ipfs://${directory}/${COLLECTION_FILE}`,
  };
}

/** The stored metadata of a token, with its id in place of `{token_id}`. */
export function publishedTokenMetadata(metadata: TokenMetadata, tokenId: string): TokenMetadata {
  const filled: TokenMetadata = { ...metadata };
  if (metadata.name !== undefined) filled.name = metadata.name.replaceAll("{token_id}", tokenId);
  if (metadata.description !== undefined) filled.description = metadata.description.replaceAll("{token_id}", tokenId);
  return filled;
}

/** The metadata of a hosted collection (ERC-7572). */
export function publishedCollectionMetadata(row: {
  name: string;
  symbol: string;
  metadata: CollectionMetadata;
}): object {
  return { name: row.name, symbol: row.symbol, ...row.metadata };
}
