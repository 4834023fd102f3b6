import type { Generated, Insertable, Selectable } from "kysely";

import type { CollectionStorage, CollectionType, Hosting } from "../../domain/command.ts";
import type { ParkedKind } from "../../domain/conditions.ts";
import type { EventType } from "../../domain/events.ts";
import type { DeliveryStatus, RequestStatus, RequestType } from "../../domain/request.ts";
import type { StoredReason } from "../../domain/waiting-for.ts";
import type { Verified } from "../../domain/verification.ts";
import type { ContractTables } from "./schema-contracts.ts";
import type { MediaTables } from "./schema-media.ts";

/**
 * The tables as TypeScript sees them. Conventions on both engines: addresses are TEXT in EIP-55 form, token ids and
 * quantities decimal TEXT, times INTEGER milliseconds since 1970, flags INTEGER 0 or 1, JSON is TEXT.
 */
export interface Tables extends MediaTables, ContractTables, ProcessTables {
  /** Facts about the database: its chain, the contracts, the checkpoint. */
  meta: {
    key: string;
    value: string;
  };

  /** Totals of listings. Every write that adds or removes rows updates them, so that no page counts rows. */
  counters: {
    key: string;
    /** The counter is the sum of its rows. */
    slot: number;
    value: number;
  };

  /** A quota that is null is unlimited. `api/domain/quota.ts` says what each one limits. */
  apps: {
    id: string;
    name: string;
    created_at: number;
    quota_media_bytes: number | null;
    quota_media_requests: number | null;
    quota_wallets: number | null;
    quota_stored_bytes: number | null;
    quota_collections: number | null;
    quota_mints: number | null;
    quota_api_tokens: number | null;
  };

  api_tokens: {
    id: string;
    app_id: string;
    name: string;
    /** SHA-256 of the token, hex: the token itself is never stored. */
    hash: string;
    /** JSON array of scopes. */
    scopes: string;
    expires_at: number | null;
    revoked_at: number | null;
    /** Calls a minute; null: only its app is limited. */
    rate_limit_per_minute: number | null;
    created_at: number;
  };

  /** A link to the console, and the session that it became when somebody signed in with it. */
  console_sessions: {
    id: string;
    /** null: the operator's, for all apps. */
    app_id: string | null;
    /** JSON array of scopes. */
    scopes: string;
    /** SHA-256 of the link's code, hex. */
    code_hash: string;
    /** SHA-256 of the session's secret, hex; null until the link is used. Neither the code nor the secret is stored. */
    hash: string | null;
    /** When the link was made. */
    created_at: number;
    signed_in_at: number | null;
    /** Until when the link can be used; once it was used, until when the session lasts. */
    expires_at: number;
    /** When the session was used last, to some minutes. */
    used_at: number | null;
    revoked_at: number | null;
  };

  wallets: {
    seq: Generated<number>;
    address: string;
    app_id: string;
    user_identifier: string | null;
    /** Last three steps of the derivation path, `a/b/c`. Empty if it is watch-only, or its key is in `imported_keys`. */
    path: string;
    created_at: number;
    /** 1: in a final block, a call through the wallet's delegate has succeeded. Then it is certain that the wallet has delegated. */
    delegated: Generated<number>;
    /** 1: a user's address whose key is elsewhere. It is listed, and never signs. Anybody can name an address, so it shows no secrets. */
    watch_only: Generated<number>;
  };

  /**
   * Private keys of wallets that were made elsewhere. No block and no seed brings them back, only a backup. On PostgreSQL, only the
   * role of the relayer reads `sealed`.
   */
  imported_keys: {
    id: Generated<number>;
    wallet: string;
    /** A JWE, bound to the wallet and its app. The seed opens it. */
    sealed: string;
    /** 1: the wallet may delegate to the service's contract although it has delegated to another one. */
    replaces_delegation: number;
    created_at: number;
  };

  /**
   * Signed transactions of the operator that move coins out of wallets. Those with the same wallet and nonce are versions of one
   * withdrawal. Requests of the wallet wait while it is open: both use the wallet's nonces.
   */
  withdrawals: {
    id: Generated<number>;
    wallet: string;
    to_address: string;
    value_wei: string;
    /** `open` until a final block has the transaction, or another one with its nonce (`replaced`). `failed`: it reverted. */
    status: "open" | "sent" | "failed" | "replaced";
    /** Of the transaction, which is committed before it is broadcast. */
    nonce: number;
    hash: string;
    raw: string;
    created_at: number;
  };

  /** Gas that an app's requests have used or may still use. Written only if a daily gas budget is set. */
  gas_usage: {
    app_id: string;
    /** Days since 1970, UTC. */
    day: number;
    used: number;
  };

  idempotency_keys: {
    app_id: string;
    key: string;
    /** Keyed HMAC over method, path and body, with the id of the key that made it: `<kid>:<hex>`. */
    fingerprint: string;
    /** The first response's body, JSON. Empty: it was pruned. */
    response: string;
    created_at: number;
  };

  requests: {
    seq: Generated<number>;
    /** 64 lower-case hex digits. */
    id: string;
    app_id: string;
    type: RequestType;
    status: RequestStatus;
    /** The `Command`, JSON. */
    command: string;
    /** The app's own text for the request; null when none. */
    reference: string | null;
    /** Unlockable content, a JWE; null when none. */
    unlockable: string | null;
    /**
     * Bytes of its metadata and unlockable content (`storedBytesOf`). They count for its app until it fails. 0 also for what
     * versions before 0.3.0 stored, until it is changed.
     */
    stored_bytes: Generated<number>;
    /** When a relayer may claim it; null: it is claimed, in a batch, waiting for media, or final. */
    ready_at: number | null;
    /** Lane that claimed it, until it is final or returned. */
    lane: number | null;
    /** The number that the relay runs at most once, decimal. Drawn at the first claim, it never changes. */
    number: string | null;
    /** Its current batch; `batch_items` has all its batches. */
    batch_id: number | null;
    /** How many batches returned it without consuming its number. */
    returns: number;
    /** Why the lane returned it for a later time (`ready_at`); null: for no reason of its own. Meaningless once it is due. */
    waiting_for: Generated<StoredReason | null>;
    /** A `ChainOutcome`, JSON. Set when a block consumed its number, until that block is deep enough. */
    outcome: string | null;
    nft_collection: string | null;
    nft_token_id: string | null;
    /** Of a transfer or a burn. */
    from_address: string | null;
    /** Who gets the token of a mint or a transfer. */
    to_address: string | null;
    /** How many copies a mint, a transfer or a burn concerns, decimal. */
    quantity: string | null;
    /** The failed request that it sends again; null: none. No other request sends the same one again. */
    retry_of: string | null;
    /** The request that sends it again; null: none. */
    retried_by: string | null;
    /** 1: it waited for content that was copied or made for it. */
    copies_media: Generated<number>;
    /** 1: a reorg deeper than `CONFIRMATIONS` changed what its app was told of it. */
    corrected: Generated<number>;
    transaction_hash: string | null;
    block_number: number | null;
    error_code: string | null;
    /** JSON array of field errors, or null. */
    errors: string | null;
    /** The day whose gas budget it is charged to; null: no budget is set. */
    gas_day: number | null;
    /** The charged gas: `gas_used`, and `gas_estimate` until its call has run. */
    gas_charged: number | null;
    /** What it was expected to use when it was accepted. Null: no budget is set, or an earlier version accepted it. */
    gas_estimate: number | null;
    /** Its shares of the gas of all mined transactions that carried it; null: none is known yet. */
    gas_used: number | null;
    /** Its shares of their fees in wei, decimal. Set together with `gas_used`. */
    fee_wei: string | null;
    created_at: number;
    updated_at: number;
  };

  lanes: {
    lane: number;
    address: string;
    next_nonce: number;
    lease_holder: string | null;
    /** Fencing token: grows with every new holder. A write with an older one is refused. */
    lease_fence: number;
    lease_until: number;
    /** What keeps it from sending, as its last holder found; null: nothing. */
    waiting_for: Generated<StoredReason | null>;
  };

  batches: {
    id: Generated<number>;
    lane: number;
    nonce: number;
    /** `closed` when a transaction with its nonce is in a block. */
    status: "open" | "closed";
    size: number;
    /** Block of the transaction that closed it. */
    block_number: number | null;
    /** Gas of that transaction; null: not mined, or the node did not show the receipt yet. */
    gas_used: number | null;
    /** Fee of that transaction in wei, decimal. Set together with `gas_used`. */
    fee_wei: string | null;
    /** The day (days since 1970, UTC) that the cost is counted on. Set together with `gas_used`. */
    cost_day: number | null;
    /** 1: a block says which of its calls ran. 0: it is open, it reverted as a whole, or another transaction used its nonce. */
    ran: Generated<number>;
    /** 0: the signed transactions of its attempts were pruned. */
    keeps_raw: Generated<number>;
    /** 0: its items were pruned. Its transaction on chain has the numbers of its requests. */
    keeps_items: Generated<number>;
    created_at: number;
  };

  /** The calls of a batch in order. Kept while a reorg can make the batch run again, as it was signed. */
  batch_items: {
    batch_id: number;
    position: number;
    request_id: string;
    /** Gas that the call was expected to use: it decides the request's share of the transaction's cost. */
    weight: number;
  };

  attempts: {
    id: Generated<number>;
    batch_id: number;
    hash: string;
    /** The signed transaction, 0x-hex, committed before it is broadcast. null: pruned, long after a block contained it. */
    raw: string | null;
    max_fee_per_gas: string;
    max_priority_fee_per_gas: string;
    gas_limit: string;
    created_at: number;
    /** When it was last broadcast; null: never. */
    sent_at: number | null;
    /** What the node last said about it (`BroadcastAnswer`); `accepted` if it ever said so. null: it was not asked. */
    answer: string | null;
  };

  blocks: {
    number: number;
    hash: string;
    parent_hash: string;
    timestamp: number;
  };

  collections: {
    seq: Generated<number>;
    address: string;
    app_id: string;
    /** null: it is adopted. */
    request_id: string | null;
    type: CollectionType;
    hosting: Hosting;
    name: string;
    symbol: string;
    max_supply: number | null;
    /** 1 if the tokens can never be transferred. */
    soulbound: number;
    /** How an ERC721 collection stores owners and balances; `standard` for ERC1155. */
    storage: CollectionStorage;
    /** 1 if it has `burnWithAuthorization`. */
    signed_burns: number;
    /** Tokens (ERC721) or distinct ids (ERC1155) ever minted on chain. */
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
    /** Whether the contract lets the service announce and freeze metadata: until another owner takes it over. */
    service_is_steward: number;
    /** 0: may change. 1: a request to freeze it was accepted. 2: frozen on chain. */
    metadata_frozen: number;
    /** 1: frozen on chain. null: not known, in a collection of 0.2.0 that `reconcile` has not compared since. */
    royalty_frozen: number | null;
    /** ERC1155: copies of all ids that exist, minted and not burnt; null for ERC721. */
    copies: string | null;
    /** 0 until its block is deep enough to be listed. */
    listed: number;
    /** What verifiers said of the contract; null: none was asked, or none has answered. */
    verified: Verified | null;
    /** 1: another party deployed the contract, and the app has adopted it. It also has a row in `foreign_contracts`. */
    adopted: Generated<number>;
    /** Of an adopted contract: its `totalSupply`, decimal; null: it tells none. */
    total_supply: string | null;
    /** Of an adopted contract: `RescueReport`, JSON; null: its metadata was not copied. */
    rescue: string | null;
    /** The block that created it. Of an adopted one: the newest block when it was adopted, up to which it makes no events. */
    block_number: number;
    created_at: number;
  };

  nfts: {
    seq: Generated<number>;
    contract: string;
    token_id: string;
    /** The request that created it. Metadata and unlockable content belong to the request, not to the id. */
    request_id: string | null;
    /** ERC1155: copies that exist. ERC721: "1", or "0" once burnt. */
    supply: string;
    /** ERC1155: accepted copies that are not on chain yet. */
    reserved: string;
    /** Custom token URI, or null when the collection's scheme applies. */
    token_uri: string | null;
    /** `TokenMetadata`, JSON; null in self-hosted collections and for tokens minted outside the service. */
    metadata: string | null;
    /** How the name begins: see `searchName`. */
    search_name: string | null;
    /** null: reserved, not on chain yet. */
    minted_block: number | null;
    minted_at: number | null;
    /** The block of the last change of `supply`; null: a version before 0.4.0 stored the row, and the change is final. */
    changed_block: number | null;
  };

  /** By which a token is found. A token that is not on chain, or burnt, has none. */
  token_traits: {
    /** `traitKey` of the collection, the `trait_type` and the `value`. */
    trait: string;
    token_seq: number;
  };

  holdings: {
    seq: Generated<number>;
    contract: string;
    token_id: string;
    owner: string;
    quantity: string;
    /** Copies reserved by accepted transfers. */
    reserved: string;
    /** Since this block the owner has always held at least one copy. */
    since_block: number;
    /** The block of the last change of `quantity`; null: a version before 0.4.0 stored the row, and the change is final. */
    changed_block: number | null;
    /** 1: not in the lists of its owner, because the app of the contract or of a follower does not have that wallet: see `listed-holdings.ts`. */
    unlisted: Generated<number>;
  };

  transfers: {
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
  };

  /** Transfers by wallet of the service, so that a listing reads one index range. */
  wallet_history: {
    wallet: string;
    transfer_id: number;
  };

  /** The value of a column before a block changed it, for a rollback. Deleted when the block is too deep for a reorg. */
  chain_edits: {
    id: Generated<number>;
    contract: string;
    /** The token; null: the collection itself was changed. */
    token_id: string | null;
    column:
      | "owner"
      | "service_may_mint"
      | "service_is_steward"
      | "max_supply"
      | "base_uri"
      | "collection_uri"
      | "metadata_frozen"
      | "royalty_frozen"
      | "token_uri";
    /** JSON. */
    previous: string;
    block_number: number;
  };

  webhooks: {
    /** Of an app's first webhook, the one of `/v1/webhook`: the app's id. */
    id: string;
    app_id: string;
    url: string;
    /** Signing secrets, newest first: a JWE over a JSON array of `{secret, expires_at}`. */
    secrets: string;
    /** JSON array of event types, or null for `DEFAULT_EVENTS`. */
    events: string | null;
    /** JSON array of the contracts (EIP-55) whose events it gets, or null for all. */
    collections: string | null;
    /** The app's own words. */
    description: string | null;
    /** Set when the receiver answered 410, or the operator disabled it. */
    disabled_at: number | null;
    created_at: number;
    updated_at: number;
  };

  events: {
    seq: Generated<number>;
    id: string;
    app_id: string;
    /** Position in the app's feed. Counted per app, so that it grows in commit order. null: not in the feed. */
    position: number | null;
    /** null for an event that is not about a request. */
    request_id: string | null;
    /** By which webhooks and readers choose: of the correction of a token's event, the type of the event that it corrects. */
    type: EventType;
    /** The webhook body, JSON. */
    body: string;
    /** The block of the movement that an event of a token tells; null: it is another event, or was corrected. */
    block_number: number | null;
    /** The id of the token's event that this one corrects. Its `type` on the wire is then `corrected`. */
    corrects: string | null;
    created_at: number;
  };

  /**
   * Counts the movements of an app's collections by strangers, in a window of blocks: those that neither concern a wallet of the app
   * nor belong to a request of it.
   */
  stranger_windows: {
    app_id: string;
    /** The window's first block. */
    from_block: number;
    /** Movements in the window that got events. */
    moves: number;
    /** The first and the last block whose movements got no events, because the window had too many; null: none. */
    gap_from: number | null;
    gap_to: number | null;
  };

  deliveries: {
    seq: Generated<number>;
    id: string;
    event_seq: number;
    app_id: string;
    /** It may be removed by now. */
    webhook_id: string;
    request_id: string | null;
    /** A webhook gets deliveries of the same subject in their order: a request's id, or `<contract>/<token id>`. null: no order. */
    subject: string | null;
    status: DeliveryStatus;
    /** How often it was sent (`attempts` on the wire). */
    tries: number;
    /** When the next try is due, or the lease of the process that sends it ends; null when there is none. */
    next_at: number | null;
    /** Fencing token: grows each time a process takes it. A write with an older one changes nothing. */
    fence: Generated<number>;
    /** The process that works on it; null: none. */
    holder: string | null;
    /** Processes that died at it, since its work last ended: see `under-way.ts`. */
    crashes: Generated<number>;
    response_status: number | null;
    /** How the body of the last answer begins, as text; null when there was none. */
    response_body: string | null;
    error: string | null;
    created_at: number;
    updated_at: number;
  };

  /** Webhooks with pending deliveries that are over, because the webhook is removed or disabled, and not ended yet. */
  abandoned_deliveries: {
    webhook_id: string;
    app_id: string;
    /** Row number of the last delivery that is over. */
    up_to_seq: number;
    reason: string;
  };
}

export type WalletRow = Selectable<Tables["wallets"]>;
export type RequestRow = Selectable<Tables["requests"]>;
export type LaneRow = Selectable<Tables["lanes"]>;
export type BatchRow = Selectable<Tables["batches"]>;
export type AttemptRow = Selectable<Tables["attempts"]>;
export type BlockRow = Selectable<Tables["blocks"]>;
export type CollectionRow = Selectable<Tables["collections"]>;
export type NftRow = Selectable<Tables["nfts"]>;
export type HoldingRow = Selectable<Tables["holdings"]>;
export type TransferRow = Selectable<Tables["transfers"]>;
export type ChainEditRow = Selectable<Tables["chain_edits"]>;
export type WebhookRow = Selectable<Tables["webhooks"]>;
/** Names a webhook of an app. It may be removed by now. */
export type WebhookKey = Pick<WebhookRow, "id" | "app_id">;
export type EventRow = Selectable<Tables["events"]>;
export type DeliveryRow = Selectable<Tables["deliveries"]>;
export type AppRow = Selectable<Tables["apps"]>;
export type NewAppRow = Insertable<Tables["apps"]>;
export type ApiTokenRow = Selectable<Tables["api_tokens"]>;
export type ConsoleSessionRow = Selectable<Tables["console_sessions"]>;

/** The tables that several processes of one installation share. The conventions are those of `Tables`. */
interface ProcessTables {
  /** Work that one process does at a time. A lane has its lease in `lanes`. */
  leases: {
    name: string;
    holder: string | null;
    /** Fencing token: grows with every new holder. A write with an older one is refused. */
    fence: number;
    until: number;
    /** When the work was done last; null: never, or it has no end. */
    done_at: number | null;
  };

  /** The same of the processes with the role `media`, and with the role `ipfs`. */
  media_leases: ProcessTables["leases"];
  ipfs_leases: ProcessTables["leases"];

  /** The running processes with the roles whose processes share something. */
  processes: {
    /** As the holder of a lease. */
    id: string;
    role: "api" | "relayer";
    /** The process renews it. Later than this, the process counts as dead. */
    until: number;
  };

  /** The running processes with neither of these roles. */
  other_processes: Omit<ProcessTables["processes"], "role">;

  /** Calls of the rate limits, counted over all API processes. Empty while there is only one. */
  rate_counts: {
    /** `token:<id>` or `address:<address>`. */
    key: string;
    /** Calls in the window. */
    used: number;
    /** End of the window. */
    ends_at: number;
  };

  /** The same of media jobs. */
  media_parked_rows: ProcessTables["parked_rows"];

  /** Rows on which the work of a worker always fails. The worker leaves each of them alone until it tries it again. */
  parked_rows: {
    kind: ParkedKind;
    /** The row's id: of a request, of a delivery, or a CID. Of an old row: its table and its key. */
    id: string;
    /** The error of the last try. */
    reason: string;
    /** Tries that failed. */
    tries: number;
    since: number;
    /** When it is tried again. */
    next_at: number;
  };
}
