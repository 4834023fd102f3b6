import type { CreateCollection, Mint, TokenMetadata } from "./command.ts";
import { MEDIA_FIELDS, URI_FIELDS } from "./command.ts";

/** Every code of a warning: the only list. The published document and docs/errors are made from it. */
export const WARNINGS = {
  id_appended:
    "The `base_uri` of an ERC721 collection ends in a letter or a digit, and the contract appends the token id to it as it is.",
  unescaped_hash:
    "A `data:` URI has a `#`, which ends it: browsers leave out the rest. Write `%23`. With `copy_media` this does not matter.",
  unknown_placeholder:
    "A text has a placeholder for the token id that nobody replaces. Hosted metadata have `{token_id}`, URIs of ERC1155 contracts have `{id}`.",
  ignored: "The field has no effect here.",
} as const;
export type WarningCode = keyof typeof WARNINGS;
export const WARNING_CODES = Object.keys(WARNINGS) as [WarningCode, ...WarningCode[]];

/** What a call that was accepted probably does not do as it was meant. */
export interface Warning {
  field: string;
  code: WarningCode;
  message: string;
}

type Fields = readonly (readonly [field: string, text: string | undefined | null])[];

/** @param maxSupply what the caller sent, which the command of an ERC1155 collection does not have. */
export function warningsOfCollection(command: CreateCollection, maxSupply: number): Warning[] {
  const { type, baseUri, collectionUri, metadata } = command;
  const ignored: Warning[] =
    type === "ERC1155" && maxSupply > 0
      ? [
          {
            field: "mint_supply_count",
            code: "ignored",
            message: "ERC1155 collections have no cap: each new id has its own `initial_supply`.",
          },
        ]
      : [];
  return [
    ...ignored,
    ...(type === "ERC721" ? appendedId(baseUri) : []),
    ...unknownPlaceholders([["base_uri", baseUri]], type === "ERC721" ? [] : ["{id}"]),
    ...unknownPlaceholders([["collection_uri", collectionUri]], []),
    ...unescapedHashes([["collection_uri", collectionUri]]),
    ...warningsOfCollectionMetadata(metadata),
  ];
}

/** @param metadata the fields that a call sends. null removes a field. */
export function warningsOfCollectionMetadata(metadata: {
  image?: string | null | undefined;
  banner_image?: string | null | undefined;
  featured_image?: string | null | undefined;
}): Warning[] {
  const { image, banner_image, featured_image } = metadata;
  return unescapedHashes(Object.entries({ image, banner_image, featured_image }));
}

/** @param copiesMedia whether the media are copied, so that their URIs are not published. */
export function warningsOfMint(command: Mint, copiesMedia: boolean): Warning[] {
  if (command.kind === "mint-erc1155") return [];
  const type = command.kind === "mint-erc721" ? "ERC721" : "ERC1155";
  const uri: Fields = command.kind === "create-erc1155" ? [["uri", command.uri]] : [];
  const warnings = [...unknownPlaceholders(uri, ["{id}"]), ...unescapedHashes(uri)];
  return command.metadata === null
    ? warnings
    : [...warnings, ...warningsOfTokenMetadata(type, command.metadata, copiesMedia)];
}

/** @param metadata the fields that a call sends. null removes a field. */
export function warningsOfTokenMetadata(
  type: "ERC721" | "ERC1155",
  metadata: { [Field in keyof TokenMetadata]?: TokenMetadata[Field] | null | undefined },
  copiesMedia: boolean,
): Warning[] {
  const texts = (["name", "description", ...URI_FIELDS] as const).map((field) => [field, metadata[field]] as const);
  // Clients replace `{id}` also in the documents of ERC1155 tokens.
  const known = type === "ERC721" ? ["{token_id}"] : ["{token_id}", "{id}"];
  const media = MEDIA_FIELDS.map((field) => [field, metadata[field]] as const);
  return [...unknownPlaceholders(texts, known), ...(copiesMedia ? [] : unescapedHashes(media))];
}

function appendedId(baseUri: string | null): Warning[] {
  if (baseUri === null || !/[\p{L}\p{N}]$/u.test(baseUri)) return [];
  const message = `The URI of token 1 will be ${baseUri}1: the contract appends the token id as it is. If this is wrong, create another collection with a base_uri that ends in a slash.`;
  return [{ field: "base_uri", code: "id_appended", message }];
}

const PLACEHOLDER = /\{\s*(?:token[\s_-]?)?id\s*\}/gi;

/** Finds what looks like a place for the token id, and is another one than those that are replaced. */
function unknownPlaceholders(fields: Fields, known: readonly string[]): Warning[] {
  return fields.flatMap(([field, text]) => {
    const found = text?.match(PLACEHOLDER)?.find((placeholder) => !known.includes(placeholder));
    if (found === undefined) return [];
    const instead = known[0] === undefined ? "" : ` Write \`${known[0]}\`.`;
    return [{ field, code: "unknown_placeholder", message: `Nobody replaces \`${found}\` here.${instead}` }];
  });
}

function unescapedHashes(fields: Fields): Warning[] {
  return fields.flatMap(([field, uri]) =>
    uri != null && /^\s*data:[^#]*#/i.test(uri)
      ? [
          {
            field,
            code: "unescaped_hash",
            message: "A `#` ends a `data:` URI: browsers leave out the rest. Write %23.",
          },
        ]
      : [],
  );
}
