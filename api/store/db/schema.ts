import type { Generated, Insertable, Selectable } from "kysely";

import type { CollectionType, Hosting } from "../../domain/command.ts";
import type { DeliveryStatus, EventType } from "../../domain/event.ts";
import type { RequestStatus, RequestType } from "../../domain/request.ts";
import type { MediaTables } from "./schema-media.ts";

/**
 * The tables as TypeScript sees them. Conventions on both engines: addresses are TEXT in EIP-55 form, token ids and
 * quantities decimal TEXT, times INTEGER milliseconds since 1970, flags INTEGER 0 or 1, JSON is TEXT.
 */
export interface Tables extends MediaTables {
  meta: MetaTable;
  counters: CountersTable;
  apps: AppsTable;
  api_tokens: ApiTokensTable;
  wallets: WalletsTable;
  gas_usage: GasUsageTable;
  idempotency_keys: IdempotencyKeysTable;
  requests: RequestsTable;
  lanes: LanesTable;
  batches: BatchesTable;
  batch_items: BatchItemsTable;
  attempts: AttemptsTable;
  blocks: BlocksTable;
  collections: CollectionsTable;
  foreign_contracts: ForeignContractsTable;
  nfts: NftsTable;
  holdings: HoldingsTable;
  transfers: TransfersTable;
  wallet_history: WalletHistoryTable;
  chain_edits: ChainEditsTable;
  uncertain_holdings: UncertainHoldingsTable;
  webhooks: WebhooksTable;
  events: EventsTable;
  deliveries: DeliveriesTable;
}

/** Facts about the database itself: the chain that it belongs to, the contracts, the checkpoint. */
interface MetaTable {
  key: string;
  value: string;
}

/** Totals of listings, kept by whoever adds or removes a row, so that no page counts rows. */
interface CountersTable {
  key: string;
  value: number;
}

interface AppsTable {
  id: string;
  name: string;
  created_at: number;
}

interface ApiTokensTable {
  id: string;
  app_id: string;
  name: string;
  /** SHA-256 of the token, hex: the token itself is never stored. */
  hash: string;
  /** JSON array of scopes. */
  scopes: string;
  expires_at: number | null;
  revoked_at: number | null;
  created_at: number;
}

interface WalletsTable {
  seq: Generated<number>;
  address: string;
  app_id: string;
  user_identifier: string | null;
  /** Last three steps of the derivation path, `a/b/c`. */
  path: string;
  created_at: number;
}

/** Gas that an app's requests have used, or may still use. Kept only where the apps have a daily budget. */
interface GasUsageTable {
  app_id: string;
  /** Days since 1970, UTC. */
  day: number;
  used: number;
}

interface IdempotencyKeysTable {
  app_id: string;
  key: string;
  /** Keyed HMAC over method, path and body, with the id of the key that made it: `<kid>:<hex>`. */
  fingerprint: string;
  /** The first response's body, JSON. */
  response: string;
  created_at: number;
}

interface RequestsTable {
  seq: Generated<number>;
  /** 64 lower-case hex digits. */
  id: string;
  app_id: string;
  type: RequestType;
  status: RequestStatus;
  /** The `Command`, JSON. */
  command: string;
  /** Unlockable content, a JWE; null when none. */
  unlockable: string | null;
  /** When a relayer may claim it; null while it is claimed, in a batch, waiting for media, or final. */
  ready_at: number | null;
  /** Lane that claimed it, from the claim until it is final or given back. */
  lane: number | null;
  /** The number that the relay runs at most once, decimal; given at the first claim, for life. */
  number: string | null;
  /** The batch that carries it now; `batch_items` remembers every one that did. */
  batch_id: number | null;
  /** How many batches it was in that did not consume its number. */
  returns: number;
  /** Set when its number was consumed in a block that is followed but not yet deep enough: a `ChainOutcome`, JSON. */
  outcome: string | null;
  nft_collection: string | null;
  nft_token_id: string | null;
  transaction_hash: string | null;
  block_number: number | null;
  error_code: string | null;
  /** JSON array of field errors, or null. */
  errors: string | null;
  /** The day whose gas budget it is charged to; null where there is no budget. */
  gas_day: number | null;
  /** What is charged: an estimate until its block shows its share of the transaction's gas. */
  gas_charged: number | null;
  created_at: number;
  updated_at: number;
}

interface LanesTable {
  lane: number;
  address: string;
  next_nonce: number;
  lease_holder: string | null;
  /** Grows with every new holder; a write with an older fence changes nothing. */
  lease_fence: number;
  lease_until: number;
}

interface BatchesTable {
  id: Generated<number>;
  lane: number;
  nonce: number;
  /** `open` until a transaction with its nonce is seen in a block; `closed` after. */
  status: "open" | "closed";
  size: number;
  /** Block of the transaction that closed it. */
  block_number: number | null;
  created_at: number;
}

/** The calls of a batch in order. Kept for good: a batch that a reorg brings back must be read as it was signed. */
interface BatchItemsTable {
  batch_id: number;
  position: number;
  request_id: string;
}

interface AttemptsTable {
  id: Generated<number>;
  batch_id: number;
  hash: string;
  /** The signed transaction, 0x-hex, committed before it is broadcast. */
  raw: string;
  max_fee_per_gas: string;
  max_priority_fee_per_gas: string;
  gas_limit: string;
  created_at: number;
  /** When it was last handed to a node; null: never yet. */
  sent_at: number | null;
}

interface BlocksTable {
  number: number;
  hash: string;
  parent_hash: string;
  timestamp: number;
}

interface CollectionsTable {
  seq: Generated<number>;
  address: string;
  app_id: string;
  request_id: string;
  type: CollectionType;
  hosting: Hosting;
  name: string;
  symbol: string;
  max_supply: number | null;
  /** Tokens (ERC721) or distinct ids (ERC1155) ever minted, as the followed chain says. */
  minted: number;
  /** Accepted ERC721 mints that are not on chain yet. */
  reserved: number;
  owner: string;
  base_uri: string | null;
  collection_uri: string | null;
  /** `CollectionMetadata`, JSON. */
  metadata: string;
  /** Whether the contract still lets the service mint. */
  service_may_mint: number;
  /** Whether the contract still lets the service announce and freeze: until somebody took the collection over. */
  service_is_steward: number;
  /** 0: may change. 1: a request to freeze it was accepted. 2: frozen on chain. */
  metadata_frozen: number;
  /** 0 until its block is deep enough to be listed. */
  listed: number;
  block_number: number;
  created_at: number;
}

interface ForeignContractsTable {
  address: string;
  type: CollectionType;
  name: string | null;
  /** Logs are followed from the block after this one. */
  followed_from: number;
  created_at: number;
}

interface NftsTable {
  seq: Generated<number>;
  contract: string;
  token_id: string;
  /** The request that created it: metadata and unlockable content hang on the request, not on the id. */
  request_id: string | null;
  /** ERC1155: copies that exist. ERC721: "1", or "0" once burnt. */
  supply: string;
  /** ERC1155: accepted copies that are not on chain yet. */
  reserved: string;
  /** Custom token URI, or null when the collection's scheme applies. */
  token_uri: string | null;
  /** `TokenMetadata`, JSON; null in self-hosted collections and for tokens minted outside the service. */
  metadata: string | null;
  /** null while the creating request is not on chain yet. */
  minted_block: number | null;
  minted_at: number | null;
}

interface HoldingsTable {
  seq: Generated<number>;
  contract: string;
  token_id: string;
  owner: string;
  quantity: string;
  /** Copies that accepted transfers are about to move. */
  reserved: string;
  /** Block since which the owner has held at least one copy without a break. */
  since_block: number;
}

interface TransfersTable {
  id: Generated<number>;
  contract: string;
  token_id: string;
  type: "mint" | "transfer" | "burn";
  quantity: string;
  from_address: string | null;
  to_address: string | null;
  transaction_hash: string;
  block_number: number;
  log_index: number;
  /** Position inside one log: a TransferBatch moves many ids. */
  sub_index: number;
  timestamp: number;
  request_id: string | null;
}

/** Which transfers concern which of the service's wallets: one index range per listing. */
interface WalletHistoryTable {
  wallet: string;
  transfer_id: number;
}

/** What a column held before a block changed it, so that a reorg can put it back. Kept while its block may still be dropped. */
interface ChainEditsTable {
  id: Generated<number>;
  contract: string;
  /** The token whose row was changed; null: the collection's. */
  token_id: string | null;
  column:
    | "owner"
    | "service_may_mint"
    | "service_is_steward"
    | "max_supply"
    | "base_uri"
    | "collection_uri"
    | "metadata_frozen"
    | "token_uri";
  /** JSON. */
  previous: string;
  block_number: number;
}

/** Holdings of foreign contracts that must be read from the chain again: after a reorg, or because the node could not tell. */
interface UncertainHoldingsTable {
  contract: string;
  token_id: string;
  owner: string;
}

interface WebhooksTable {
  app_id: string;
  url: string;
  /** Signing secrets, newest first: a JWE over a JSON array of `{secret, expires_at}`. */
  secrets: string;
  /** JSON array of event types, or null for all. */
  events: string | null;
  /** Set when the receiver answered 410. */
  disabled_at: number | null;
  created_at: number;
  updated_at: number;
}

interface EventsTable {
  seq: Generated<number>;
  id: string;
  app_id: string;
  /** Place in the app's feed: counted per app, so that it grows in the order of the commits. null: not in the feed. */
  position: number | null;
  /** null for a test event. */
  request_id: string | null;
  type: EventType;
  /** The webhook body, JSON. */
  body: string;
  created_at: number;
}

interface DeliveriesTable {
  seq: Generated<number>;
  id: string;
  event_seq: number;
  app_id: string;
  request_id: string | null;
  status: DeliveryStatus;
  /** How often it was sent (`attempts` on the wire). */
  tries: number;
  /** When the next try is due; null when there is none. */
  next_at: number | null;
  response_status: number | null;
  error: string | null;
  created_at: number;
  updated_at: number;
}

export type WalletRow = Selectable<WalletsTable>;
export type RequestRow = Selectable<RequestsTable>;
export type NewRequestRow = Insertable<RequestsTable>;
export type LaneRow = Selectable<LanesTable>;
export type BatchRow = Selectable<BatchesTable>;
export type AttemptRow = Selectable<AttemptsTable>;
export type BlockRow = Selectable<BlocksTable>;
export type CollectionRow = Selectable<CollectionsTable>;
export type ForeignContractRow = Selectable<ForeignContractsTable>;
export type NftRow = Selectable<NftsTable>;
export type HoldingRow = Selectable<HoldingsTable>;
export type TransferRow = Selectable<TransfersTable>;
export type ChainEditRow = Selectable<ChainEditsTable>;
export type WebhookRow = Selectable<WebhooksTable>;
export type EventRow = Selectable<EventsTable>;
export type DeliveryRow = Selectable<DeliveriesTable>;
export type NewDeliveryRow = Insertable<DeliveriesTable>;
export type AppRow = Selectable<AppsTable>;
export type ApiTokenRow = Selectable<ApiTokensTable>;
