import type { CollectionType } from "../../domain/command.ts";

/** The start of hosted URIs: the service's public URL and its chain. */
export interface Place {
  publicUrl: string;
  chainId: number;
}

export function placeOf(deps: { settings: { publicUrl: string }; chainId: number }): Place {
  return { publicUrl: deps.settings.publicUrl, chainId: deps.chainId };
}

export function hostedCollectionUri(place: Place, collection: string): string {
  return `${place.publicUrl}/metadata/${place.chainId.toString()}/${collection}`;
}

export function hostedTokenUri(place: Place, collection: string, type: CollectionType, tokenId: string): string {
  return `${hostedCollectionUri(place, collection)}/${type === "ERC721" ? tokenId : erc1155Id(tokenId)}`;
}

export function selfHostedTokenUri(baseUri: string, type: CollectionType, tokenId: string): string {
  return type === "ERC721" ? baseUri + tokenId : baseUri.replaceAll("{id}", erc1155Id(tokenId));
}

/** The text that clients put in place of `{id}` (ERC-1155): 64 lower-case hex digits. */
function erc1155Id(tokenId: string): string {
  return BigInt(tokenId).toString(16).padStart(64, "0");
}
