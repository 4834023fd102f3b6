import type { CollectionMetadata, TokenMetadata } from "../domain/command.ts";

/** The stored metadata of a token, with its id in place of `{token_id}`. */
export function tokenMetadata(metadata: TokenMetadata, tokenId: string): TokenMetadata {
  const filled: TokenMetadata = { ...metadata };
  if (metadata.name !== undefined) filled.name = metadata.name.replaceAll("{token_id}", tokenId);
  if (metadata.description !== undefined) filled.description = metadata.description.replaceAll("{token_id}", tokenId);
  return filled;
}

/** The metadata of a hosted collection (ERC-7572). */
export function collectionMetadata(row: { name: string; symbol: string; metadata: CollectionMetadata }): object {
  return { name: row.name, symbol: row.symbol, ...row.metadata };
}
