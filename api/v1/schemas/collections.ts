import { z } from "zod";

import { MAX_BASIS_POINTS, MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH, MAX_SYMBOL_LENGTH } from "../../config/limits.ts";
import type { CollectionMetadata, CollectionType } from "../../domain/command.ts";
import { RESCUE_PROBLEMS } from "../../domain/rescue-report.ts";
import { VERIFIED } from "../../domain/verification.ts";
import { count, destination, optional, optionalFields, reference, refuse, text } from "./inputs.ts";
import { collectionNft, tokenMetadata, tokenMetadataInputs } from "./nfts.ts";
import { address, collectionType, hosting, integer, requestId, time, warnings } from "./outputs.ts";
import { pageFrameFields, pageSchema } from "./pages.ts";
import { contentUri, linkUri } from "./uris.ts";

/** `collaborators` has at most this many addresses. */
const MAX_COLLABORATORS = 100;

const rescue = z.object({
  at: time,
  finished: z.boolean().describe("false: it still runs, or was interrupted."),
  tokens: z.int().describe("Tokens that it has come to."),
  served: z.int().describe("Tokens whose metadata is here."),
  problems: z
    .array(
      z.object({
        problem: z
          .enum(RESCUE_PROBLEMS)
          .describe(
            "missing: its source does not give it. unusable: it is not metadata. changed: its source has another one; the copy stays. too_large: it is above a limit or quota.",
          ),
        count: z.int().describe("How many."),
        token_ids: z.array(integer.nullable()).describe("The first ones. null: the collection itself."),
      }),
    )
    .describe("Documents and files."),
  call: z
    .object({
      function: z.string().describe("Usual name of the function."),
      argument: z.string().describe("The base URI."),
      data: z.string().describe("The encoded call."),
    })
    .describe("The owner's call by which the contract names this service."),
});

/** The fields of a collection's metadata (ERC-7572), as its creation and a change take them. */
const collectionMetadataInputs = {
  description: text(MAX_DESCRIPTION_LENGTH).describe("Hosted only. Text about the collection."),
  image: contentUri,
  external_link: linkUri,
  banner_image: contentUri.describe("Hosted only. URI of a wide picture."),
  featured_image: contentUri.describe("Hosted only. URI of a picture for a selection."),
  collaborators: z
    .array(destination)
    .max(MAX_COLLABORATORS)
    .describe("Hosted only. Addresses of those who may edit the collection at marketplaces."),
  seller_fee_basis_points: count(MAX_BASIS_POINTS).describe(
    "Hosted only. Royalty on sales, in hundredths of a percent.",
  ),
  fee_recipient: destination.describe("Hosted only. Who gets the royalty."),
} satisfies Record<keyof CollectionMetadata, z.ZodType>;

/** The fields of a metadata change: null removes one; a missing field keeps its value. */
function changesOf<F extends Record<string, z.ZodType>>(fields: F) {
  const changes = Object.entries(fields).map(([name, schema]) => [name, schema.nullable().optional()]);
  return Object.fromEntries(changes) as { [K in keyof F]: z.ZodOptional<z.ZodNullable<F[K]>> };
}

export const collectionChanges = z
  .strictObject({ ...changesOf(collectionMetadataInputs), reference })
  .meta({ id: "ChangeCollection" });

export const tokenChanges = z
  .strictObject({ ...changesOf(tokenMetadataInputs), reference })
  .meta({ id: "ChangeToken" });

const announcement = requestId
  .nullable()
  .describe(
    "The request that announces the change on chain. null when nothing changed, or when the collection has its own owner: then only that owner can announce.",
  );

export const changedCollection = z
  .object({
    metadata: z
      .object({
        description: z.string().optional().describe("Text about the collection."),
        image: z.string().optional().describe("URI of a picture."),
        external_link: z.string().optional().describe("URI of a website."),
        banner_image: z.string().optional().describe("URI of a wide picture."),
        featured_image: z.string().optional().describe("URI of a picture for a selection."),
        collaborators: z.array(address).optional().describe("Who may edit the collection."),
        seller_fee_basis_points: z.int().optional().describe("Royalty, in hundredths of a percent."),
        fee_recipient: address.optional().describe("Who gets the royalty."),
      })
      .describe("All metadata after the change."),
    request_id: announcement,
    warnings: warnings.optional(),
  })
  .meta({ id: "ChangedCollection" });

export const changedToken = z
  .object({ metadata: tokenMetadata, request_id: announcement, warnings: warnings.optional() })
  .meta({ id: "ChangedToken" });

export const HOSTED_FIELDS = Object.keys(collectionMetadataInputs) as (keyof CollectionMetadata)[];

const soulboundInput = optional(z.boolean()).describe(
  "If true, tokens can never be transferred; their holders can only burn them. This cannot be changed later. ERC721 collections announce it by ERC-5192.",
);

const newOwnerInput = optional(destination).describe(
  "Owner of the contract. You must control this address. By default the service is the owner.",
);
/** White space, characters that nothing shows, and the blank of Braille. */
const BLANK = /^[\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]+$/u;

/** Text that is not only white space: it names the contract, and can never be changed. */
function visible(longest: number) {
  return text(longest, 1).check((context) => {
    const { value } = context;
    if (BLANK.test(value)) refuse(context, "too_short", "Must not be only white space.");
  });
}

const cap = count(Number.MAX_SAFE_INTEGER);
const createCollectionFields = z.strictObject({
  type: collectionType,
  name: visible(MAX_NAME_LENGTH).describe("Name of the collection."),
  symbol: visible(MAX_SYMBOL_LENGTH).describe("Usually three or more capital letters."),
  mint_supply_count: optional(cap).describe(
    "The most tokens that can ever be minted. 0, like no value, means unlimited. Ignored for ERC1155: such a collection never has a cap, whatever is sent here.",
  ),
  mint_supply_account: optional(cap).describe("Another name for mint_supply_count."),
  new_owner: newOwnerInput,
  soulbound: soulboundInput,
  ...optionalFields(collectionMetadataInputs),
  base_uri: optional(linkUri),
  collection_uri: optional(contentUri),
  reference,
});

/** Both variants in one schema: `base_uri` or `collection_uri` makes the collection self-hosted. */
export const createCollectionBody = createCollectionFields
  .check((context) => {
    const body = context.value;
    const add = (field: string, code: string, message: string) => {
      refuse(context, code, message, [field]);
    };
    const { mint_supply_count: counted, mint_supply_account: accounted } = body;
    if (counted !== undefined && accounted !== undefined && counted !== accounted) {
      add(
        "mint_supply_account",
        "conflict",
        "Must equal mint_supply_count, which means the same. Send only one of them.",
      );
    }
    if (body.base_uri === undefined && body.collection_uri === undefined) {
      if ((body.seller_fee_basis_points ?? 0) > 0 && body.fee_recipient === undefined) {
        add("fee_recipient", "required", "This field is required when seller_fee_basis_points is not 0.");
      }
      return;
    }
    for (const field of HOSTED_FIELDS) {
      if (body[field] !== undefined)
        add(
          field,
          "conflict",
          "Self-hosted collections do not take this field. Remove it, or remove base_uri and collection_uri.",
        );
    }
    if (body.base_uri === undefined)
      add("base_uri", "required", "This field is required for a self-hosted collection.");
    else {
      const fault = baseUriFault(body.type, body.base_uri);
      if (fault !== null) add("base_uri", "invalid_format", fault);
    }
  })
  .meta({ id: "CreateCollection" });
/** Why no token would have a usable URI; null: they would. */
function baseUriFault(type: CollectionType, uri: string): string | null {
  const hasPlace = uri.includes("{id}");
  if (type === "ERC1155")
    return hasPlace ? null : "Must contain {id} for an ERC1155 collection: clients replace it with the token id.";
  if (hasPlace)
    return "Must not contain {id}: the contract of an ERC721 collection appends the token id, as in https://cats.example/1.";
  if (/^(ipfs|ar):\/\/(ipfs\/)?[^/]+$/i.test(uri))
    return "Must have a path behind the CID or the transaction, at least a slash: the contract appends the token id.";
  return null;
}
export type CreateCollectionBody = z.output<typeof createCollectionBody>;

export const collection = z
  .object({
    address,
    type: collectionType,
    name: z.string().describe("Name of the collection."),
    symbol: z.string().describe("Symbol of the collection."),
    hosting,
    mint_supply_count: z
      .int()
      .nullable()
      .describe("The most tokens that can ever be minted. null means unlimited. Always null for ERC1155."),
    soulbound: z.boolean().describe("true: the tokens can never be transferred."),
    minted: z.int().describe("Tokens (ERC721) or distinct ids (ERC1155) ever minted."),
    copies: integer.optional().describe("ERC1155 only. Copies of all its ids that exist: without burnt ones."),
    metadata_frozen: z
      .enum(["no", "pending", "yes"])
      .describe(
        "Whether the metadata is frozen. pending: a freeze was accepted, and is not on chain yet. Unless this is no, metadata cannot be changed, and no token with hosted metadata can be minted; copies of ERC1155 ids that exist can.",
      ),
    royalty_frozen: z
      .boolean()
      .nullable()
      .describe(
        "true: the owner of the contract can never change the royalty (ERC-2981) again. null: not known, in a collection of version 0.2.0; `reconcile` finds it.",
      ),
    verified: z
      .enum(VERIFIED)
      .nullable()
      .describe(
        "What Sourcify or Etherscan said of the contract when the operator asked (`contract verify`). A collection is a minimal proxy (EIP-1167) that runs an implementation. implementation: the verifier has the sources of the implementation. match, exact: it knows sources of the proxy itself, without or with the hash of its metadata. failed: it does not have the sources. null: it was not asked, or has not answered.",
      ),
    owner: address.describe("Owner of the contract."),
    collection_uri: z.string().nullable().describe("URI of the metadata of the collection."),
    base_uri: z.string().nullable().optional().describe("Self-hosted only."),
    description: z.string().nullable().optional().describe("Hosted only. Text about the collection."),
    image: z.string().nullable().optional().describe("Hosted only. URI of a picture."),
    external_link: z.string().nullable().optional().describe("Hosted only. URI of a website."),
    banner_image: z.string().nullable().optional().describe("Hosted only. URI of a wide picture."),
    featured_image: z.string().nullable().optional().describe("Hosted only. URI of a picture for a selection."),
    collaborators: z
      .array(address)
      .nullable()
      .optional()
      .describe("Hosted only. Who may edit the collection at marketplaces."),
    seller_fee_basis_points: z
      .int()
      .nullable()
      .optional()
      .describe("Hosted only. Royalty on sales, in hundredths of a percent."),
    fee_recipient: address.nullable().optional().describe("Hosted only. Who gets the royalty."),
    adopted: z
      .object({
        state: z
          .enum(["reading", "followed", "quarantined"])
          .describe(
            "reading: its past is being read. followed: it is stored up to the newest block. quarantined: it floods, and is read further later.",
          ),
        as_of_block: z.int().describe("Its tokens, holders and history are stored up to this block."),
        to_block: z.int().describe("The newest block that is stored of the chain."),
        total_supply: z.string().nullable().describe("`totalSupply` of the contract. null: it tells none."),
        rescue: rescue.nullable().describe("The last copy of its metadata by `collection rescue`."),
        minting: z
          .object({
            function: z.string().describe("The function that mints, with what each argument is."),
            stopped: z.string().nullable().describe("Why it is stopped. null: it is not."),
          })
          .nullable()
          .describe("How the service mints into it. null: it does not."),
      })
      .nullable()
      .describe("Another party deployed the contract, and the app has adopted it. null: the service deployed it."),
    request_id: requestId.nullable().describe("The request that created it. null: it is adopted."),
    created_at: time,
  })
  .meta({ id: "Collection" });

export const collectionsPage = z
  .object({ collections: pageSchema(collection), ...pageFrameFields })
  .meta({ id: "CollectionsPage" });

/** A collection with a page of its tokens. */
export const collectionNftsPage = z
  .object({
    collection: collection.describe("The collection itself."),
    nfts: pageSchema(collectionNft),
    ...pageFrameFields,
  })
  .meta({ id: "NftsPage" });
