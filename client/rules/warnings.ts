/* What the service warns of in calls that it accepts. `drop` says the same before it sends anything. */

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

type Type = "ERC721" | "ERC1155";
/** null removes a field. */
type Text = string | null | undefined;
type Fields = readonly (readonly [field: string, text: Text])[];

interface NewCollection {
  type: Type;
  baseUri: string | null;
  collectionUri: string | null;
  metadata: CollectionPictures;
}
interface CollectionPictures {
  image?: Text;
  banner_image?: Text;
  featured_image?: Text;
}

/** @param maxSupply what the caller sent. An ERC1155 collection ignores it. */
export function warningsOfCollection(collection: NewCollection, maxSupply: number): Warning[] {
  const { type, baseUri, collectionUri, metadata } = collection;
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

/** @param metadata the fields that a call sends. */
export function warningsOfCollectionMetadata({ image, banner_image, featured_image }: CollectionPictures): Warning[] {
  return unescapedHashes(Object.entries({ image, banner_image, featured_image }));
}

const MEDIA = ["image", "animation_url"] as const;
const TEXTS = ["name", "description", "external_url", ...MEDIA] as const;
type TokenTexts = Partial<Record<(typeof TEXTS)[number], Text>>;

/**
 * @param metadata the fields that a call sends; null: it has no hosted metadata.
 * @param uri the token's own URI.
 * @param copiesMedia whether the media are copied, so that their URIs are not published.
 */
export function warningsOfToken(
  type: Type,
  metadata: TokenTexts | null,
  { uri = null, copiesMedia = false }: { uri?: string | null; copiesMedia?: boolean } = {},
): Warning[] {
  const fields = <F extends keyof TokenTexts>(names: readonly F[]) =>
    names.map((name) => [name, metadata?.[name]] as const);
  // Clients replace `{id}` also in the documents of ERC1155 tokens.
  const known = type === "ERC721" ? ["{token_id}"] : ["{token_id}", "{id}"];
  return [
    ...unknownPlaceholders([["uri", uri]], ["{id}"]),
    ...unescapedHashes([["uri", uri]]),
    ...unknownPlaceholders(fields(TEXTS), known),
    ...(copiesMedia ? [] : unescapedHashes(fields(MEDIA))),
  ];
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
