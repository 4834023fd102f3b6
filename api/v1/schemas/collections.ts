import { z } from "zod";

import { type Limits, MAX_BASIS_POINTS } from "../../config/limits.ts";
import { VERIFIED } from "../../domain/verification.ts";
import { count, destination, optional, reference, refuse, text } from "./inputs.ts";
import { attributes, tokenMetadata } from "./nfts.ts";
import { address, collectionType, hosting, integer, requestId, time } from "./outputs.ts";
import { pageFrameFields, pageSchema } from "./pages.ts";
import { contentUri, linkUri } from "./uris.ts";

/** A field of a metadata change: null removes it; a missing field keeps its value. */
function change<S extends z.ZodType>(schema: S) {
  return schema.nullable().optional();
}

export function collectionChanges(limits: Limits) {
  return z
    .strictObject({
      description: change(text(limits.description)).meta({ description: "Text about the collection." }),
      image: change(contentUri(limits.uri)),
      external_link: change(linkUri(limits.uri)),
      seller_fee_basis_points: change(count(MAX_BASIS_POINTS)).meta({
        description: "Royalty on sales, in hundredths of a percent.",
      }),
      fee_recipient: change(destination).meta({ description: "Who gets the royalty." }),
      reference,
    })
    .meta({ id: "ChangeCollection" });
}

export function tokenChanges(limits: Limits) {
  return z
    .strictObject({
      name: change(text(limits.name)).meta({ description: "`{token_id}` stands for the token id." }),
      description: change(text(limits.description)).meta({ description: "`{token_id}` stands for the token id." }),
      image: change(contentUri(limits.uri)),
      external_url: change(linkUri(limits.uri)),
      attributes: change(attributes(limits)).meta({ description: "Properties of the token." }),
      background_color: change(text(limits.symbol)).meta({ description: "Six hexadecimal digits, without #." }),
      animation_url: change(contentUri(limits.uri)),
      youtube_url: change(linkUri(limits.uri)),
      reference,
    })
    .meta({ id: "ChangeToken" });
}

const announcement = requestId.nullable().meta({
  description:
    "The request that announces the change on chain. null when nothing changed, or when the collection has its own owner: then only that owner can announce.",
});

export const changedCollection = z
  .object({
    metadata: z
      .object({
        description: z.string().optional().meta({ description: "Text about the collection." }),
        image: z.string().optional().meta({ description: "URI of a picture." }),
        external_link: z.string().optional().meta({ description: "URI of a website." }),
        seller_fee_basis_points: z.int().optional().meta({ description: "Royalty, in hundredths of a percent." }),
        fee_recipient: address.optional().meta({ description: "Who gets the royalty." }),
      })
      .meta({ description: "All metadata after the change." }),
    request_id: announcement,
  })
  .meta({ id: "ChangedCollection" });

export const changedToken = z
  .object({ metadata: tokenMetadata, request_id: announcement })
  .meta({ id: "ChangedToken" });

export const HOSTED_FIELDS = [
  "description",
  "image",
  "external_link",
  "seller_fee_basis_points",
  "fee_recipient",
] as const;

const soulboundInput = optional(z.boolean()).meta({
  description:
    "If true, tokens can never be transferred; their holders can only burn them. This cannot be changed later. ERC721 collections announce it by ERC-5192.",
});

const newOwnerInput = optional(destination).meta({
  description: "Owner of the contract. You must control this address. By default the service is the owner.",
});
const royaltyInput = optional(count(MAX_BASIS_POINTS)).meta({
  description: "Hosted only. Royalty on sales, in hundredths of a percent.",
});

function createCollectionFields(limits: Limits) {
  const cap = count(Number.MAX_SAFE_INTEGER);
  return z.strictObject({
    type: collectionType,
    name: text(limits.name, 1).meta({ description: "Name of the collection." }),
    symbol: text(limits.symbol, 1).meta({ description: "Usually three or more capital letters." }),
    mint_supply_count: optional(cap).meta({
      description:
        "The most tokens that can ever be minted. 0, like no value, means unlimited. Ignored for ERC1155: such a collection never has a cap, whatever is sent here.",
    }),
    mint_supply_account: optional(cap).meta({ description: "Another name for mint_supply_count." }),
    new_owner: newOwnerInput,
    soulbound: soulboundInput,
    description: optional(text(limits.description)).meta({ description: "Hosted only. Text about the collection." }),
    image: optional(contentUri(limits.uri)),
    external_link: optional(linkUri(limits.uri)),
    seller_fee_basis_points: royaltyInput,
    fee_recipient: optional(destination).meta({ description: "Hosted only. Who gets the royalty." }),
    base_uri: optional(linkUri(limits.uri)),
    collection_uri: optional(contentUri(limits.uri)),
    reference,
  });
}

/** Both variants in one schema: `base_uri` or `collection_uri` makes the collection self-hosted. */
export function createCollectionBody(limits: Limits) {
  return createCollectionFields(limits)
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
      else if (body.type === "ERC1155" && !body.base_uri.includes("{id}")) {
        add(
          "base_uri",
          "invalid_format",
          "Must contain {id} for an ERC1155 collection: clients replace it with the token id.",
        );
      }
    })
    .meta({ id: "CreateCollection" });
}
export type CreateCollectionBody = z.output<ReturnType<typeof createCollectionBody>>;

export const collection = z
  .object({
    address,
    type: collectionType,
    name: z.string().meta({ description: "Name of the collection." }),
    symbol: z.string().meta({ description: "Symbol of the collection." }),
    hosting,
    mint_supply_count: z
      .int()
      .nullable()
      .meta({ description: "The most tokens that can ever be minted. null means unlimited. Always null for ERC1155." }),
    soulbound: z.boolean().meta({ description: "true: the tokens can never be transferred." }),
    minted: z.int().meta({ description: "Tokens (ERC721) or distinct ids (ERC1155) ever minted." }),
    copies: integer
      .optional()
      .meta({ description: "ERC1155 only. Copies of all its ids that exist: without burnt ones." }),
    metadata_frozen: z.enum(["no", "pending", "yes"]).meta({
      description:
        "Whether the metadata is frozen. pending: a freeze was accepted, and is not on chain yet. Unless this is no, metadata cannot be changed, and no token with hosted metadata can be minted; copies of ERC1155 ids that exist can.",
    }),
    royalty_frozen: z.boolean().nullable().meta({
      description:
        "true: the owner of the contract can never change the royalty (ERC-2981) again. null: not known, in a collection of version 0.2.0; `reconcile` finds it.",
    }),
    verified: z.enum(VERIFIED).nullable().meta({
      description:
        "What the verifier of the operator (Sourcify or Etherscan, `VERIFY_COLLECTIONS`) said of the contract. A collection is a minimal proxy (EIP-1167) that runs an implementation. implementation: the verifier has the sources of the implementation. match, exact: it knows sources of the proxy itself, without or with the hash of its metadata. failed: it refused each time. null: it was not asked, or has not answered yet.",
    }),
    owner: address.meta({ description: "Owner of the contract." }),
    collection_uri: z.string().nullable().meta({ description: "URI of the metadata of the collection." }),
    base_uri: z.string().nullable().optional().meta({ description: "Self-hosted only." }),
    description: z.string().nullable().optional().meta({ description: "Hosted only. Text about the collection." }),
    image: z.string().nullable().optional().meta({ description: "Hosted only. URI of a picture." }),
    external_link: z.string().nullable().optional().meta({ description: "Hosted only. URI of a website." }),
    seller_fee_basis_points: z
      .int()
      .nullable()
      .optional()
      .meta({ description: "Hosted only. Royalty on sales, in hundredths of a percent." }),
    fee_recipient: address.nullable().optional().meta({ description: "Hosted only. Who gets the royalty." }),
    request_id: requestId,
    created_at: time,
  })
  .meta({ id: "Collection" });

export const collectionsPage = z
  .object({ collections: pageSchema(collection), ...pageFrameFields })
  .meta({ id: "CollectionsPage" });
