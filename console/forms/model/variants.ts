import type { Field } from "./fields.ts";

/*
 * One schema of the API can have several variants. Each form leaves out the fields of the other variants, and those that the
 * screen fills in itself. A field that the API gains later appears in the forms without a change here.
 */

/** What a form needs to know about a collection. */
export interface CollectionKind {
  type: "ERC721" | "ERC1155";
  hosting: "hosted" | "self-hosted";
}

/** An ERC1155 collection takes new ids, and more copies of existing ones. */
export type MintVariant = "new" | "copies";

interface Variant {
  omit: readonly string[];
  /** Fields that the schema leaves optional, but this variant needs. */
  require: readonly string[];
}

const HOSTED_METADATA = [
  "name",
  "description",
  "image",
  "image_data",
  "external_url",
  "attributes",
  "background_color",
  "animation_url",
  "youtube_url",
  "properties",
  "localization",
  "decimals",
  "copy_media",
  "unlockable_content",
];
/** A form takes an address or a user identifier in one field, and looks up the wallet. Only a table may name new users. */
const BY_USER = "to_user";
const ERC1155_ONLY = ["token_id", "initial_supply", "initial_owner", "quantity", "uri", "decimals"];

export function mintVariant({ type, hosting }: CollectionKind, variant: MintVariant): Variant {
  const metadata = hosting === "hosted" ? [] : HOSTED_METADATA;
  if (type === "ERC721")
    return { omit: ["collection_address", BY_USER, ...ERC1155_ONLY, ...metadata], require: ["to_address"] };
  if (variant === "copies") {
    return {
      omit: ["collection_address", BY_USER, "initial_supply", "initial_owner", "uri", ...HOSTED_METADATA],
      require: ["token_id", "quantity", "to_address"],
    };
  }
  // A token with its own URI has no hosted metadata: the form offers one of them, as the collection does it.
  const uri = hosting === "hosted" ? ["uri"] : [];
  return {
    omit: ["collection_address", BY_USER, "to_address", "quantity", ...uri, ...metadata],
    require: ["token_id", "initial_supply", "initial_owner"],
  };
}

export function createVariant({ type, hosting }: CollectionKind): Variant {
  const cap = type === "ERC721" ? [] : ["mint_supply_count"];
  const hosted = [
    "description",
    "image",
    "external_link",
    "banner_image",
    "featured_image",
    "collaborators",
    "seller_fee_basis_points",
    "fee_recipient",
  ];
  const selfHosted = ["base_uri", "collection_uri"];
  return {
    omit: ["type", "mint_supply_account", ...cap, ...(hosting === "hosted" ? selfHosted : hosted)],
    require: hosting === "hosted" ? [] : ["base_uri"],
  };
}

/** The screen knows the contract, the token and the wallet that holds it. An ERC721 token has one copy. */
export function transferVariant(type: CollectionKind["type"]): Variant {
  const omit = ["from_address", "from_user", "contract_address", "token_id", BY_USER];
  return type === "ERC721"
    ? { omit: [...omit, "amount"], require: ["to_address"] }
    : { omit, require: ["to_address", "amount"] };
}

/** As a transfer, without a receiver. */
export function burnVariant(type: CollectionKind["type"]): Variant {
  const omit = ["from_address", "from_user", "contract_address", "token_id"];
  return type === "ERC721" ? { omit: [...omit, "amount"], require: [] } : { omit, require: ["amount"] };
}

/** The fields of a variant, in the order of the schema. */
export function fieldsOfVariant(fields: readonly Field[], { omit, require }: Variant): Field[] {
  return fields
    .filter(({ name }) => !omit.includes(name))
    .map((field) => (require.includes(field.name) ? { ...field, required: true } : field));
}
