import { z } from "zod";

import {
  MAX_ATTRIBUTE_DEPTH,
  MAX_ATTRIBUTES,
  MAX_DESCRIPTION_LENGTH,
  MAX_METADATA_BYTES,
  MAX_NAME_LENGTH,
  MAX_UNLOCKABLE_BYTES,
} from "../../config/limits.ts";
import type { MetadataField } from "../../domain/command.ts";
import { MAX_TRAIT_LENGTH } from "../../domain/filters.ts";
import { faultOf, NUMBERS } from "../../../client/rules/storable.ts";
import { MOST_COUNTED } from "../../store/db/pages.ts";
import {
  address,
  count,
  destination,
  optional,
  optionalFields,
  quantity,
  reference,
  refuse,
  text,
  textUpToBytes,
  tokenId,
  toUser,
  UNICODE,
  userIdentifier,
} from "./inputs.ts";
import { address as addressAnswer, collectionType, integer, isFinal, time } from "./outputs.ts";
import { orderField, pageFields, pageFrameFields, pageSchema, refuseOthers, searchField } from "./pages.ts";
import { contentUri, linkUri } from "./uris.ts";

const COLOR = /^#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})$/;
/** `decimals` of ERC-1155 is an uint8 in ERC-20, from which it comes. */
const MAX_DECIMALS = 255;

/** A colour in hexadecimal digits, with or without #. Three digits are short for six. Read as six digits without #. */
const color = z
  .string()
  .meta({ pattern: COLOR.source, description: "Six hexadecimal digits. A # in front is removed." })
  .transform((value, context) => {
    const digits = COLOR.exec(value)?.[1];
    if (digits === undefined) {
      refuse(context, "invalid_format", "Must be a colour of six hexadecimal digits, such as ff0000.");
      return z.NEVER;
    }
    return digits.length === 3 ? digits.replaceAll(/./g, "$&$&") : digits;
  });

/** Any JSON values, bounded by the bytes of the whole metadata. */
const attributes = z
  .array(z.unknown())
  .max(MAX_ATTRIBUTES)
  .check(refuseFaults)
  .meta({ "x-max-bytes": MAX_METADATA_BYTES });

/** An object with any JSON values, bounded by the bytes of the whole metadata. */
const jsonObject = z.record(z.string(), z.unknown()).check(refuseFaults).meta({ "x-max-bytes": MAX_METADATA_BYTES });

/** The fields of a token's metadata, as a mint and a change take them. */
export const tokenMetadataInputs = {
  name: text(MAX_NAME_LENGTH).describe("Name of the token. `{token_id}` stands for the token id."),
  description: text(MAX_DESCRIPTION_LENGTH).describe("Text about the token. `{token_id}` stands for the token id."),
  image: contentUri,
  image_data: textUpToBytes(MAX_METADATA_BYTES).describe("The text of an SVG picture, for a token without `image`."),
  external_url: linkUri,
  attributes: attributes.describe(
    'Properties of the token, such as `{"trait_type": "fur", "value": "red"}`, or `{"display_type": "number", "trait_type": "level", "value": 5}`. `value` is a text, a number or a boolean. Entries of another form are stored as they are, but the console, the filter by trait and most marketplaces do not show them.',
  ),
  background_color: color,
  animation_url: contentUri,
  youtube_url: linkUri,
  properties: jsonObject.describe("Any further properties of the token, as ERC-1155 has them."),
  localization: jsonObject.describe("Where texts in other languages are: `uri`, `default` and `locales` (ERC-1155)."),
  decimals: count(MAX_DECIMALS).describe("ERC1155 only. Decimal places in which wallets show a number of copies."),
} satisfies Record<MetadataField, z.ZodType>;

/** All five variants in one schema: the collection decides which fields apply. */
export const mintBody = z
  .strictObject({
    collection_address: address.describe("The collection of the token."),
    to_address: optional(destination).describe("Destination of an ERC721 token, or of more ERC1155 copies."),
    initial_owner: optional(destination).describe("Destination of a new ERC1155 id."),
    to_user: toUser("`to_address` or `initial_owner`"),
    token_id: optional(tokenId).describe("ERC1155 only."),
    initial_supply: optional(quantity).describe("Number of copies of a new ERC1155 id."),
    quantity: optional(quantity).describe("Number of further copies of an existing ERC1155 id."),
    uri: optional(contentUri).describe(
      "Metadata URI of a new ERC1155 id, used in place of the collection's base URI. Schemes: http:, https:, ipfs:, ar:, data:.",
    ),
    ...optionalFields(tokenMetadataInputs),
    name: optional(tokenMetadataInputs.name).describe(
      "Hosted only, like all fields of the metadata. `{token_id}` stands for the token id here and in `description`, `image`, `animation_url` and `external_url`.",
    ),
    copy_media: optional(z.boolean()).describe(
      "Hosted only. true copies the files at image and animation_url (http:, https:, ipfs: or data:) to IPFS and hosts them. The request fails with `media_unavailable` if image is not an image or a video, or animation_url not one of these, sound, a model, a PDF or an HTML page. In a `data:` URI, everything behind the comma is the file, also a `#`. For ERC721 these may not have `{token_id}` then: the id is not known yet.",
    ),
    unlockable_content: optional(textUpToBytes(MAX_UNLOCKABLE_BYTES)).describe(
      `Text that only the holder can read. At most ${MAX_UNLOCKABLE_BYTES.toString()} bytes in UTF-8.`,
    ),
    reference,
  })
  .meta({ id: "Mint" });

function refuseFaults(context: Parameters<typeof refuse>[0] & { value: object }): void {
  const fault = faultOf(context.value, MAX_ATTRIBUTE_DEPTH);
  if (fault === "depth") {
    refuse(context, "too_deep", `Must be nested at most ${MAX_ATTRIBUTE_DEPTH.toString()} levels deep.`);
  } else if (fault === "text") {
    refuse(context, "invalid_format", `Keys and texts: ${UNICODE}`);
  } else if (fault === "number") {
    refuse(context, "invalid_format", NUMBERS);
  }
}

export const tokenMetadata = z
  .object({
    name: z.string().optional().describe("Name of the token."),
    description: z.string().optional().describe("Text about the token."),
    image: z.string().optional().describe("URI of a picture."),
    image_data: z.string().optional().describe("The text of an SVG picture."),
    external_url: z.string().optional().describe("URI of a website about the token."),
    attributes: z.array(z.unknown()).optional().describe("Properties of the token."),
    background_color: z.string().optional().describe("Six hexadecimal digits, without #."),
    animation_url: z.string().optional().describe("URI of a video, a sound or a model."),
    youtube_url: z.string().optional().describe("URI of a video on YouTube."),
    properties: z.record(z.string(), z.unknown()).optional().describe("Further properties of the token."),
    localization: z.record(z.string(), z.unknown()).optional().describe("Where texts in other languages are."),
    decimals: z.int().optional().describe("Decimal places in which wallets show a number of copies."),
  } satisfies Record<MetadataField, z.ZodType>)
  .meta({ id: "TokenMetadata", description: "Metadata of a hosted token, with {token_id} replaced by the token id." });

const nftFields = {
  contract_address: addressAnswer,
  collection_name: z.string().nullable().describe("null when the contract tells no name."),
  type: collectionType,
  token_id: integer,
  quantity: integer.optional().describe("ERC1155: number of copies in this wallet or this collection."),
  token_uri: z
    .string()
    .nullable()
    .describe(
      "URI of the metadata, as the contract returns it. Of an adopted collection, where the service has its copy of them.",
    ),
  metadata: tokenMetadata
    .nullable()
    .describe(
      "Only of hosted tokens, and of those of adopted collections that were copied here. Of the latter, the fields of this list that have these types: `token_uri` has all of them, as they came.",
    ),
  minted_at: time.nullable().describe("Time of the block of the mint."),
  final: isFinal("the last change of the owner or of the number of copies"),
};

/** Which tokens of a collection. */
const some = `\`total\` counts up to ${MOST_COUNTED.toLocaleString("en")} of them.`;
export const nftsQuery = z
  .strictObject({
    ...pageFields,
    order: orderField("oldest", " Only without a filter."),
    search: searchField("name", "`offset`, `cursor`, `order` or a filter").optional(),
    owner: address.optional().describe(`Only the tokens that this address holds. ${some}`),
    user: userIdentifier
      .optional()
      .describe("In place of `owner`: the app's own name for the user. Without a wallet the page is empty."),
    trait_type: text(MAX_TRAIT_LENGTH, 1)
      .optional()
      .describe(`Only the tokens with an attribute of this \`trait_type\`, and of this \`trait_value\`. ${some}`),
    trait_value: text(MAX_TRAIT_LENGTH, 1)
      .optional()
      .describe("The `value` of that attribute; a number or a boolean as JSON writes it. Together with `trait_type`."),
  })
  .check((context) => {
    const { owner, user, trait_type: type, trait_value: value, search, order, offset, cursor } = context.value;
    const filters = { owner, user, trait_type: type };
    if (search !== undefined) refuseOthers(context, "search", { ...filters, order, offset, cursor });
    if (order !== undefined) refuseOthers(context, "order", filters);
    const conflict = (field: string, with_: string) => {
      refuse(context, "conflict", `Cannot be combined with \`${with_}\`.`, [field]);
    };
    if (owner !== undefined && user !== undefined) conflict("user", "owner");
    if (type !== undefined && value === undefined)
      refuse(context, "required", "This field is required with `trait_type`.", ["trait_value"]);
    if (value !== undefined && type === undefined)
      refuse(context, "required", "This field is required with `trait_value`.", ["trait_type"]);
    if (type !== undefined && owner !== undefined) conflict("trait_type", "owner");
    if (type !== undefined && user !== undefined) conflict("trait_type", "user");
  });
export type NftsQuery = z.output<typeof nftsQuery>;

/** A token in its collection's listing. */
export const collectionNft = z
  .object({
    ...nftFields,
    owner: addressAnswer.nullable().optional().describe("ERC721 only."),
  })
  .meta({ id: "Nft" });

/** A token in a wallet's listing. */
export const heldNft = z
  .object({
    ...nftFields,
    unlockable_content: z
      .string()
      .nullable()
      .describe("Shown only while this wallet holds the token, and never to a watch-only wallet."),
    as_of_block: z
      .int()
      .nonnegative()
      .optional()
      .describe(
        "Only for a contract of others: the block as of which the service knows that the wallet holds the token.",
      ),
  })
  .meta({ id: "HeldNft" });

export const heldNftsPage = z.object({ nfts: pageSchema(heldNft), ...pageFrameFields }).meta({ id: "HeldNftsPage" });

export const contractNftsPage = z
  .object({
    nfts: pageSchema(heldNft),
    ...pageFrameFields,
    as_of_block: z
      .int()
      .nonnegative()
      .nullable()
      .describe(
        "The block as of which the list is complete. null: the service has not read the wallet's tokens of this contract completely; ask again later.",
      ),
  })
  .meta({ id: "ContractNftsPage" });

const owner = addressAnswer.nullable().describe("null when the token was burnt.");

/** One token with its owner (ERC721) or a page of its owners (ERC1155). */
export const singleNft = z.union([
  z
    .object({ ...nftFields, type: z.literal("ERC721").describe("Kind of the contract."), owner })
    .meta({ id: "Erc721Nft" }),
  z
    .object({
      ...nftFields,
      type: z.literal("ERC1155").describe("Kind of the contract."),
      owners: z
        .array(
          z.object({
            address: addressAnswer,
            quantity: integer.describe("Copies that the owner has."),
            final: isFinal("the last change of the number of copies"),
          }),
        )
        .describe("The owners of this page."),
      ...pageFrameFields,
    })
    .meta({ id: "Erc1155Nft" }),
]);
