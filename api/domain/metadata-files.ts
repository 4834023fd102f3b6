import { type CollectionMetadata, type CollectionType, type TokenMetadata, URI_FIELDS } from "./command.ts";

/** File name of a frozen collection's own metadata in its directory. */
export const COLLECTION_FILE = "collection.json";

/** File name of a token's metadata: what clients append to the base URI (ERC721), or put in place of its `{id}` (ERC1155). */
export function tokenFile(type: CollectionType, tokenId: string): string {
  return type === "ERC721" ? tokenId : BigInt(tokenId).toString(16).padStart(64, "0");
}

/**
 * What the owner of an adopted contract sets as its base URI, so that it names this service.
 * @param hostedBase start of the URIs of the chain, with a slash at the end.
 */
export function publicBase(hostedBase: string, address: string, type: CollectionType): string {
  return `${hostedBase}${address}/${type === "ERC721" ? "" : "{id}"}`;
}

/** The URIs of a frozen collection. @param directory CID of its metadata. */
export function frozenUris(type: CollectionType, directory: string): { baseUri: string; collectionUri: string } {
  return {
    baseUri: `ipfs://${directory}/${type === "ERC721" ? "" : "{id}"}`,
    collectionUri: `ipfs://${directory}/${COLLECTION_FILE}`,
  };
}

/** What a token's id replaces in its metadata. */
export const TOKEN_ID_PLACE = "{token_id}";

/** The metadata to store, with the rules of this version. */
export function storedTokenMetadata(metadata: TokenMetadata): TokenMetadata {
  const hasPlace = URI_FIELDS.some((field) => metadata[field]?.includes(TOKEN_ID_PLACE));
  return hasPlace ? { ...metadata, fills_uris: true } : withoutRules(metadata);
}

/** The stored metadata of a token, with its id in place of `{token_id}`. */
export function publishedTokenMetadata(metadata: TokenMetadata, tokenId: string): TokenMetadata {
  const filled = withoutRules(metadata);
  for (const field of ["name", "description", ...(metadata.fills_uris === true ? URI_FIELDS : [])] as const) {
    const text = metadata[field];
    if (text !== undefined) filled[field] = text.replaceAll(TOKEN_ID_PLACE, tokenId);
  }
  return filled;
}

function withoutRules(metadata: TokenMetadata): TokenMetadata {
  const published = { ...metadata };
  delete published.fills_uris;
  return published;
}

/** The metadata of a hosted collection (ERC-7572). */
export function publishedCollectionMetadata(row: {
  name: string;
  symbol: string;
  metadata: CollectionMetadata;
}): object {
  return { name: row.name, symbol: row.symbol, ...row.metadata };
}
