import { z } from "zod";

import { type Limits, MAX_ATTRIBUTE_DEPTH } from "../../config/limits.ts";
import { isRawNumber } from "../../shared/exact-json.ts";
import {
  address,
  destination,
  isStorable,
  optional,
  quantity,
  refuse,
  text,
  textOfBytes,
  tokenId,
  UNICODE,
} from "./inputs.ts";
import { contentUri, linkUri } from "./uris.ts";
import { address as addressAnswer, collectionType, integer, time } from "./outputs.ts";
import { pageFrameFields } from "./pages.ts";

/** All five variants in one schema: the collection decides which fields apply. */
export function mintBody(limits: Limits) {
  return z
    .strictObject({
      collection_address: address,
      to_address: optional(destination).meta({
        description: "Destination of an ERC721 token, or of more ERC1155 copies.",
      }),
      initial_owner: optional(destination).meta({ description: "Destination of a new ERC1155 id." }),
      token_id: optional(tokenId).meta({ description: "ERC1155 only." }),
      initial_supply: optional(quantity).meta({ description: "Number of copies of a new ERC1155 id." }),
      quantity: optional(quantity).meta({ description: "Number of further copies of an existing ERC1155 id." }),
      uri: optional(contentUri(limits.uri)).meta({
        description:
          "Metadata URI of a new ERC1155 id, used in place of the collection's base URI. Schemes: http:, https:, ipfs:, ar:, data:.",
      }),
      name: optional(text(limits.name)),
      description: optional(text(limits.description)),
      image: optional(contentUri(limits.uri)),
      external_url: optional(linkUri(limits.uri)),
      attributes: optional(attributes(limits.attributes)),
      background_color: optional(text(limits.symbol)),
      animation_url: optional(contentUri(limits.uri)),
      youtube_url: optional(linkUri(limits.uri)),
      copy_media: optional(z.boolean()).meta({
        description:
          "Hosted only. true copies the files at image and animation_url (http:, https:, ipfs: or data:) to IPFS and hosts them.",
      }),
      unlockable_content: optional(textOfBytes(limits.unlockableBytes)).meta({
        description: `Text that only the holder can read. At most ${limits.unlockableBytes.toString()} bytes in UTF-8.`,
      }),
    })
    .meta({ id: "Mint" });
}

export function attributes(most: number) {
  return z
    .array(z.unknown())
    .max(most)
    .check((context) => {
      const fault = faultOf(context.value, MAX_ATTRIBUTE_DEPTH);
      if (fault === "depth") {
        refuse(context, "too_deep", `Must be nested at most ${MAX_ATTRIBUTE_DEPTH.toString()} levels deep.`);
      } else if (fault === "text") {
        refuse(context, "invalid_format", `Keys and texts: ${UNICODE}`);
      }
    });
}

/** Walks level by level and never recurses: the caller chooses the depth. */
function faultOf(value: unknown[], levels: number): "depth" | "text" | null {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return "depth";
    const children = level.flatMap(partsOf);
    if (children.some((child) => typeof child === "string" && !isStorable(child))) return "text";
    level = children.filter((child) => typeof child === "object" && child !== null && !isRawNumber(child));
  }
  return null;
}

/** Keys and values of an object or array. */
function partsOf(item: unknown): unknown[] {
  return Array.isArray(item) ? item : Object.entries(item as Record<string, unknown>).flat();
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
  .meta({ id: "TokenMetadata", description: "Metadata of a hosted token, with {token_id} replaced by the token id." });

const nftFields = {
  contract_address: addressAnswer,
  collection_name: z.string().nullable(),
  type: collectionType,
  token_id: integer,
  quantity: integer.optional().meta({ description: "ERC1155: number of copies in this wallet or this collection." }),
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
    unlockable_content: z.string().nullable().meta({ description: "Shown only while this wallet holds the token." }),
    as_of_block: z.int().nonnegative().optional().meta({
      description:
        "Only for a contract of others: the block as of which the service knows that the wallet holds the token.",
    }),
  })
  .meta({ id: "HeldNft" });

export const collectionNftsPage = z
  .object({ nfts: z.array(collectionNft), ...pageFrameFields })
  .meta({ id: "NftsPage" });
export const heldNftsPage = z.object({ nfts: z.array(heldNft), ...pageFrameFields }).meta({ id: "HeldNftsPage" });

export const contractNftsPage = z
  .object({
    nfts: z.array(heldNft),
    ...pageFrameFields,
    as_of_block: z.int().nonnegative().nullable().meta({
      description:
        "The block as of which the list is complete. null: the service has not read the wallet's tokens of this contract completely; ask again later.",
    }),
  })
  .meta({ id: "ContractNftsPage" });

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
