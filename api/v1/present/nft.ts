import type { z } from "zod";

import type { TokenMetadata } from "../../domain/command.ts";
import { toWireInteger } from "../../domain/numbers.ts";
import { tokenMetadata } from "../../shared/metadata-documents.ts";
import type { HeldNft, Holder } from "../../store/listings/holdings.ts";
import type { CollectionNft, NftView } from "../../store/listings/nfts.ts";
import type { collectionNft, heldNft } from "../schemas/nfts.ts";
import { hostedTokenUri, type Place, selfHostedTokenUri } from "./uris.ts";
import { isoTime } from "./time.ts";

export function presentCollectionNft(place: Place, nft: CollectionNft): z.input<typeof collectionNft> {
  return {
    ...common(place, nft),
    ...(nft.type === "ERC1155" ? { quantity: toWireInteger(nft.supply) } : { owner: nft.owner }),
  };
}

/** @param unlockable decrypted content; null unless the wallet may see it. */
export function presentHeldNft(place: Place, nft: HeldNft, unlockable: string | null): z.input<typeof heldNft> {
  return {
    ...common(place, nft),
    ...(nft.type === "ERC1155" ? { quantity: toWireInteger(nft.quantity) } : {}),
    unlockable_content: unlockable,
    ...(nft.asOf === null ? {} : { as_of_block: nft.asOf }),
  };
}

export function presentHolder(holder: Holder) {
  return { address: holder.owner, quantity: toWireInteger(holder.quantity) };
}

export function presentNft(place: Place, nft: NftView) {
  return common(place, nft);
}

function common(place: Place, nft: NftView) {
  return {
    contract_address: nft.contract,
    collection_name: nft.collectionName,
    type: nft.type,
    token_id: toWireInteger(nft.tokenId),
    token_uri: tokenUri(place, nft),
    metadata: nft.metadata === null ? null : presentMetadata(nft.metadata, nft.tokenId),
    minted_at: nft.mintedAt === null ? null : isoTime(nft.mintedAt),
  };
}

/** The URI of the token's metadata, as its contract returns it. */
function tokenUri(place: Place, nft: NftView): string | null {
  if (nft.tokenUri !== null) return nft.tokenUri;
  if (nft.baseUri !== null) return selfHostedTokenUri(nft.baseUri, nft.type, nft.tokenId);
  return nft.hosting === "hosted" ? hostedTokenUri(place, nft.contract, nft.type, nft.tokenId) : null;
}

/** The stored metadata, with `{token_id}` replaced by the token id. */
export function presentMetadata(stored: TokenMetadata, tokenId: string): TokenMetadata {
  return tokenMetadata(stored, tokenId);
}
