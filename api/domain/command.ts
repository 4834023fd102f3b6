/** The validated intent of a request, stored with it as JSON (big integers as decimal strings). */

export type CollectionType = "ERC721" | "ERC1155";
/** How ERC721 collections store owners and balances: packed, or as OpenZeppelin does. The first is the default. */
export const STORAGES = ["compact", "standard"] as const;
export type CollectionStorage = (typeof STORAGES)[number];
export const DEFAULT_STORAGE: CollectionStorage = STORAGES[0];
/** What the factory that made a collection decides. */
export interface CollectionKind {
  /** Of ERC721 collections. ERC1155 collections have one kind. */
  storage: CollectionStorage;
  /** Whether its collections have `burnWithAuthorization`. Those of 0.2.0 do not: their tokens are burnt through the delegate. */
  signedBurns: boolean;
}
export type Hosting = "hosted" | "self-hosted";

/** Contract-level metadata of a hosted collection. Absent fields are left out. */
export interface CollectionMetadata {
  description?: string;
  image?: string;
  external_link?: string;
  banner_image?: string;
  featured_image?: string;
  collaborators?: string[];
  seller_fee_basis_points?: number;
  fee_recipient?: string;
}

/** The fields of a hosted token's metadata (ERC-721, ERC-1155, OpenSea's public standard). */
export const METADATA_FIELDS = [
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
] as const;
export type MetadataField = (typeof METADATA_FIELDS)[number];
/** The fields that are not texts. */
interface OtherMetadata {
  attributes?: unknown[];
  properties?: Record<string, unknown>;
  localization?: Record<string, unknown>;
  /** ERC1155 only. */
  decimals?: number;
}
type MetadataText = Exclude<MetadataField, keyof OtherMetadata>;

/** How the stored metadata of a token are read. */
interface MetadataRules {
  /**
   * Whether `{token_id}` is also replaced in URIs. Set from 0.4.0 on, where a URI has it: documents of earlier tokens keep their
   * bytes.
   */
  fills_uris?: true;
}

/** Metadata of a hosted token. Absent fields are left out. */
export type TokenMetadata = Partial<Record<MetadataText, string>> & OtherMetadata & MetadataRules;

/** Fields of token metadata that point to media. */
export const MEDIA_FIELDS = ["image", "animation_url"] as const satisfies MetadataText[];
/** The URIs in which `{token_id}` is replaced. */
export const URI_FIELDS = [...MEDIA_FIELDS, "external_url"] as const satisfies MetadataText[];

export interface CreateCollection {
  kind: "create-collection";
  type: CollectionType;
  hosting: Hosting;
  name: string;
  symbol: string;
  /** ERC721 only; null is unlimited. */
  maxSupply: number | null;
  baseUri: string | null;
  collectionUri: string | null;
  metadata: CollectionMetadata;
  newOwner: string | null;
  /** Whether the tokens can never be transferred. */
  soulbound: boolean;
}

/** What the mint function of an adopted contract gets besides receiver and quantity; null: nothing. */
export interface AdoptedMint {
  tokenId: string | null;
  uri: string | null;
}

export interface MintErc721 {
  kind: "mint-erc721";
  collection: string;
  to: string;
  /** null in self-hosted collections. */
  metadata: TokenMetadata | null;
  /** Only for an adopted contract, which is called by its own function, and in which nothing is reserved. */
  adopted?: AdoptedMint;
}

export interface CreateErc1155 {
  kind: "create-erc1155";
  collection: string;
  to: string;
  tokenId: string;
  quantity: string;
  /** The token's own metadata URI. null means that the collection's base URI applies. */
  uri: string | null;
  metadata: TokenMetadata | null;
  /** As of `MintErc721`. */
  adopted?: AdoptedMint;
}

export interface MintErc1155 {
  kind: "mint-erc1155";
  collection: string;
  to: string;
  tokenId: string;
  quantity: string;
  /** As of `MintErc721`. */
  adopted?: AdoptedMint;
}

export interface Transfer {
  kind: "transfer";
  contract: string;
  contractType: CollectionType;
  /** See `isDelegated`. Another party deployed the contract. */
  foreign: boolean;
  from: string;
  to: string;
  tokenId: string;
  quantity: string;
}

export interface Burn {
  kind: "burn";
  contract: string;
  contractType: CollectionType;
  /** See `isDelegated`. Another party deployed the contract, or it is a collection from before `burnWithAuthorization`. */
  foreign: boolean;
  from: string;
  tokenId: string;
  quantity: string;
}

/** A command that takes copies of a token from a wallet of the service. The wallet signs it. */
export type WalletCommand = Transfer | Burn;

/** Announces on chain that metadata changed: a token's, or the collection's own (`tokenId` null). */
export interface AnnounceMetadata {
  kind: "announce-metadata";
  collection: string;
  /** Absent in requests of 0.2.0, and where it does not matter. */
  type?: CollectionType;
  tokenId: string | null;
}

/** Moves a hosted collection's metadata to a directory on IPFS and freezes it there permanently. */
export interface FreezeMetadata {
  kind: "freeze-metadata";
  collection: string;
  type: CollectionType;
  /** CID of the directory. null until it exists. */
  directory: string | null;
}

export type Mint = MintErc721 | CreateErc1155 | MintErc1155;
export type Command = CreateCollection | Mint | WalletCommand | AnnounceMetadata | FreezeMetadata;

export function isMint(command: Command): command is Mint {
  return command.kind === "mint-erc721" || command.kind === "create-erc1155" || command.kind === "mint-erc1155";
}

/** Whether a contract that another party deployed mints, by a function of its own. */
export function isAdoptedMint(command: Command): command is Mint & { adopted: AdoptedMint } {
  return isMint(command) && command.adopted !== undefined;
}

export function isOfWallet(command: Command): command is WalletCommand {
  return command.kind === "transfer" || command.kind === "burn";
}

/** Whether the wallet acts through its delegate. Otherwise the contract itself checks the wallet's signature. */
export function isDelegated(command: Command): command is WalletCommand & { foreign: true } {
  return isOfWallet(command) && command.foreign;
}

/** Who gets the copies that a wallet gives away; null: nobody, they are burnt. */
export function receiverOf(command: WalletCommand): string | null {
  return command.kind === "transfer" ? command.to : null;
}

/** Who gives copies of a token, who gets them, and how many (decimal); null: nobody, or the command moves none. */
export function movementOf(command: Command): Record<"from" | "to" | "quantity", string | null> {
  return {
    from: "from" in command ? command.from : null,
    to: "to" in command ? command.to : null,
    quantity: command.kind === "mint-erc721" ? "1" : "quantity" in command ? command.quantity : null,
  };
}

/** Whether one of the service's collections calls the recipient's token receiver hook, if the recipient has code. A burn calls none. */
export function callsReceiver(command: Command): boolean {
  return (isMint(command) && !isAdoptedMint(command)) || (command.kind === "transfer" && !isDelegated(command));
}
