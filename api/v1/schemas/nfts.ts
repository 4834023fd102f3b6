import { z } from "zod";

import { type Limits, MAX_ATTRIBUTE_DEPTH } from "../../config/limits.ts";
import { isRawNumber } from "../../shared/exact-json.ts";
import { address, destination, optional, quantity, refuse, text, textOfBytes, tokenId } from "./inputs.ts";
import { address as addressAnswer, collectionType, integer, time } from "./outputs.ts";
import { pageFrameFields } from "./pages.ts";

/** All five variants in one; the collection decides which fields apply. */
export function mintBody(limits: Limits) {
  return z
    .strictObject({
      collection_address: address,
      to_address: optional(destination).meta({ description: "Destination of an ERC721 mint, or of more copies." }),
      initial_owner: optional(destination).meta({ description: "Destination of a new ERC1155 id." }),
      token_id: optional(tokenId).meta({ description: "ERC1155 only." }),
      initial_supply: optional(quantity).meta({ description: "Copies of a new ERC1155 id." }),
      quantity: optional(quantity).meta({ description: "More copies of an existing ERC1155 id." }),
      uri: optional(text(limits.uri, 1)).meta({
        description: "Metadata URI of a new ERC1155 id, in place of the scheme.",
      }),
      name: optional(text(limits.name)),
      description: optional(text(limits.description)),
      image: optional(text(limits.uri)),
      external_url: optional(text(limits.uri)),
      attributes: optional(attributes(limits.attributes)),
      background_color: optional(text(limits.symbol)),
      animation_url: optional(text(limits.uri)),
      youtube_url: optional(text(limits.uri)),
      copy_media: optional(z.boolean()).meta({
        description:
          "Hosted only. true: what image and animation_url lead to (http, https, data, ipfs) is copied to IPFS and hosted.",
      }),
      unlockable_content: optional(textOfBytes(limits.unlockableBytes)).meta({
        description: `Text that only the holder may see; at most ${limits.unlockableBytes.toString()} bytes.`,
      }),
    })
    .meta({ id: "Mint" });
}

export function attributes(most: number) {
  return z
    .array(z.unknown())
    .max(most)
    .check((context) => {
      if (isDeeperThan(context.value, MAX_ATTRIBUTE_DEPTH)) {
        refuse(context, "too_deep", `Must be nested at most ${MAX_ATTRIBUTE_DEPTH.toString()} levels deep.`);
      }
    });
}

/** Level by level, never by recursion: the depth is the caller's. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((item) =>
      typeof item === "object" && item !== null && !isRawNumber(item)
        ? Object.values(item as Record<string, unknown>).filter((child) => typeof child === "object" && child !== null)
        : [],
    );
  }
  return false;
}

export const tokenMetadata = z
  .object({
    name: z.string().optional(),
    description: z.string().optional(),
    image: z.string().optional(),
    external_url: z.string().optional(),
    attributes: z.array(z.unknown()).optional(),
    background_color: z.string().optional(),
    animation_url: z.string().optional(),
    youtube_url: z.string().optional(),
  })
  .meta({ id: "TokenMetadata", description: "Token metadata of a hosted token, {token_id} replaced." });

const nftFields = {
  contract_address: addressAnswer,
  collection_name: z.string().nullable(),
  type: collectionType,
  token_id: integer,
  quantity: integer.optional().meta({ description: "ERC1155: copies that this wallet or this collection has." }),
  token_uri: z.string().nullable(),
  metadata: tokenMetadata.nullable(),
  minted_at: time.nullable(),
};

/** A token in its collection's listing. */
export const collectionNft = z
  .object({
    ...nftFields,
    owner: addressAnswer.nullable().optional().meta({ description: "ERC721 only." }),
  })
  .meta({ id: "Nft" });

/** A token in a wallet's listing. */
export const heldNft = z
  .object({
    ...nftFields,
    unlockable_content: z.string().nullable().meta({ description: "Only while this wallet holds the token." }),
  })
  .meta({ id: "HeldNft" });

export const collectionNftsPage = z
  .object({ nfts: z.array(collectionNft), ...pageFrameFields })
  .meta({ id: "NftsPage" });
export const heldNftsPage = z.object({ nfts: z.array(heldNft), ...pageFrameFields }).meta({ id: "HeldNftsPage" });

/** One token with its owner (ERC721) or a page of its owners (ERC1155). */
export const singleNft = z.union([
  z.object({ ...nftFields, type: z.literal("ERC721"), owner: addressAnswer.nullable() }).meta({ id: "Erc721Nft" }),
  z
    .object({
      ...nftFields,
      type: z.literal("ERC1155"),
      owners: z.array(z.object({ address: addressAnswer, quantity: integer })),
      ...pageFrameFields,
    })
    .meta({ id: "Erc1155Nft" }),
]);
