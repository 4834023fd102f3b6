import type { z } from "zod";

import { uriCall } from "../chain/token-uris.ts";
import { isScope } from "../commands/api-tokens.ts";
import { type CollectionType, METADATA_FIELDS, type TokenMetadata } from "../domain/command.ts";
import { type PipelineReasons, waitingFor } from "../domain/waiting-for.ts";
import { ApiError, ERRORS } from "../domain/error-codes.ts";
import { publicBase, publishedTokenMetadata, tokenFile } from "../domain/metadata-files.ts";
import { toWireInteger } from "../domain/token.ts";
import { remember } from "../shared/bounded-map.ts";
import type { StoredToken } from "../store/apps/api-tokens.ts";
import { findAppsById } from "../store/apps/apps.ts";
import type { StoredConsoleSession } from "../store/apps/console-sessions.ts";
import type { WalletRow } from "../store/db/schema.ts";
import type { StoredCollection } from "../store/listings/collections.ts";
import type { HistoryEntry } from "../store/listings/history.ts";
import type { HeldNft, Holder } from "../store/listings/holdings.ts";
import type { CollectionNft, NftView } from "../store/listings/nfts.ts";
import type { LoggedDelivery } from "../store/outbox/deliveries.ts";
import type { ListedWebhook } from "../store/outbox/webhooks.ts";
import { metadataFrozen } from "../store/requests/freezing.ts";
import type { ListedRequest } from "../store/requests/requests.ts";
import type { HttpDeps } from "./deps.ts";
import type { apiToken } from "./schemas/api-tokens.ts";
import { type collection, HOSTED_FIELDS } from "./schemas/collections.ts";
import { type collectionNft, type heldNft, tokenMetadata } from "./schemas/nfts.ts";
import type { request } from "./schemas/requests.ts";
import type { delivery } from "./schemas/webhook.ts";

export function presentCollectionNft(place: Place, nft: CollectionNft): z.input<typeof collectionNft> {
  return {
    ...presentNft(place, nft),
    ...(nft.type === "ERC1155" ? { quantity: toWireInteger(nft.supply) } : { owner: nft.owner }),
  };
}

/** @param unlockable decrypted content; null unless the wallet may see it. */
export function presentHeldNft(place: Place, nft: HeldNft, unlockable: string | null): z.input<typeof heldNft> {
  return {
    ...presentNft(place, nft),
    ...(nft.type === "ERC1155" ? { quantity: toWireInteger(nft.quantity) } : {}),
    unlockable_content: unlockable,
    ...(nft.asOf === null ? {} : { as_of_block: nft.asOf }),
  };
}

export function presentHolder(holder: Holder) {
  return { address: holder.owner, quantity: toWireInteger(holder.quantity), final: holder.final };
}

/** What is the same for a token in every listing. */
export function presentNft(place: Place, nft: NftView) {
  return {
    contract_address: nft.contract,
    collection_name: nft.collectionName,
    type: nft.type,
    token_id: toWireInteger(nft.tokenId),
    token_uri: tokenUri(place, nft),
    metadata: nft.metadata === null ? null : presentMetadata(nft, nft.metadata),
    minted_at: nft.mintedAt === null ? null : isoTime(nft.mintedAt),
    final: nft.final,
  };
}

/** Those of an adopted collection came from elsewhere: a field may have any type. The document at `token_uri` has all fields. */
function presentMetadata({ hosting, tokenId }: NftView, metadata: TokenMetadata): TokenMetadata {
  if (hosting === "hosted") return publishedTokenMetadata(metadata, tokenId);
  return Object.fromEntries(
    METADATA_FIELDS.filter(
      (field) => Object.hasOwn(metadata, field) && tokenMetadata.shape[field].safeParse(metadata[field]).success,
    ).map((field) => [field, metadata[field]]),
  );
}

/** The URI of the token's metadata, as its contract returns it; of an adopted contract, where the service has its copy. */
function tokenUri(place: Place, nft: NftView): string | null {
  if (nft.tokenUri !== null) return nft.tokenUri;
  if (nft.baseUri !== null) return selfHostedTokenUri(nft.baseUri, nft.type, nft.tokenId);
  return nft.hosting === "hosted" || nft.metadata !== null
    ? hostedTokenUri(place, nft.contract, nft.type, nft.tokenId)
    : null;
}

export function presentCollection(place: Place, row: StoredCollection): z.input<typeof collection> {
  const hosted = row.hosting === "hosted";
  return {
    address: row.address,
    type: row.type,
    name: row.name,
    symbol: row.symbol,
    hosting: row.hosting,
    mint_supply_count: row.max_supply,
    soulbound: row.soulbound === 1,
    minted: row.minted,
    ...(row.copies === null ? {} : { copies: toWireInteger(row.copies) }),
    metadata_frozen: metadataFrozen(row),
    royalty_frozen: row.royalty_frozen === null ? null : row.royalty_frozen === 1,
    verified: row.verified,
    owner: row.owner,
    collection_uri: row.collection_uri ?? (hosted || isRescued(row) ? hostedCollectionUri(place, row.address) : null),
    ...(hosted
      ? Object.fromEntries(HOSTED_FIELDS.map((name) => [name, row.metadata[name] ?? null]))
      : { base_uri: row.base_uri }),
    adopted: presentAdoption(place, row),
    request_id: row.request_id,
    created_at: isoTime(row.created_at),
  };
}

/** Whether the service has a copy of the metadata of an adopted collection. */
function isRescued({ adopted, metadata }: StoredCollection): boolean {
  return adopted === 1 && Object.keys(metadata).length > 0;
}

function presentAdoption(place: Place, row: StoredCollection) {
  const { adoption, total_supply } = row;
  if (adoption === null) return null;
  const { state, asOf: as_of_block, checkpoint: to_block, mintFunction, mintingStopped: stopped } = adoption;
  const minting = mintFunction === null ? null : { function: mintFunction, stopped };
  return { state, as_of_block, to_block, total_supply, minting, rescue: presentRescue(place, row) };
}

function presentRescue(place: Place, row: StoredCollection) {
  if (row.rescue === null) return null;
  const { at, finished, tokens, served, problems } = row.rescue;
  const found = problems.map(({ problem, count, token_ids: ids }) => ({
    ...{ problem, count },
    token_ids: ids.map((id) => (id === null ? null : toWireInteger(id))),
  }));
  const { to: _to, ...call } = uriCall(row, publicBase(hostedBase(place), row.address, row.type));
  return { at: isoTime(at), finished, tokens, served, problems: found, call };
}

export function presentHistoryEntry(row: HistoryEntry) {
  return {
    type: row.type,
    contract_address: row.contract,
    token_id: toWireInteger(row.token_id),
    quantity: toWireInteger(row.quantity),
    from_address: row.from_address,
    to_address: row.to_address,
    transaction_hash: row.transaction_hash,
    block_number: row.block_number,
    timestamp: isoTime(row.timestamp),
    request_id: row.request_id,
    final: row.final,
  };
}

/** @param reasons null: they are not known. */
export function presentRequest(row: ListedRequest, reasons: PipelineReasons | null): z.input<typeof request> {
  const tokenId = row.nft_token_id === null ? null : toWireInteger(row.nft_token_id);
  return {
    request_id: row.id,
    type: row.type,
    status: row.status,
    waiting_for: waitingFor(row, reasons, Date.now()),
    reference: row.reference,
    nft_collection: row.nft_collection,
    nft_token_id: tokenId,
    contract_address: row.nft_collection,
    token_id: tokenId,
    quantity: row.quantity === null ? null : toWireInteger(row.quantity),
    from_address: row.from_address,
    to_address: row.to_address,
    // `withUsers` adds them.
    from_user: null,
    to_user: null,
    transaction_hash: row.transaction_hash,
    block_number: row.block_number,
    gas_used: row.gas_used,
    fee_wei: row.fee_wei,
    error_code: row.error_code,
    error_message: row.error_code === null ? null : ERRORS[row.error_code].message,
    errors: row.errors,
    retry_of: row.retry_of,
    retried_by: row.retried_by,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

/** @returns undefined when the session's app was removed meanwhile. */
export async function presentSession({ chainId, database, settings }: HttpDeps, session: StoredConsoleSession) {
  const [app] = session.app_id === null ? [null] : await findAppsById(database.read, [session.app_id]);
  if (app === undefined) return undefined;
  return {
    session_id: session.id,
    kind: app === null ? ("operator" as const) : ("app" as const),
    app: app === null ? null : { app_id: app.id, name: app.name },
    scopes: session.scopes.filter(isScope),
    created_at: isoTime(session.signed_in_at ?? session.created_at),
    expires_at: isoTime(session.expires_at),
    chain_id: chainId,
    explorer_url: settings.explorerUrl,
    public_url: settings.publicUrl,
  };
}

/** The token without its secret. */
export function presentApiToken(
  row: Pick<
    StoredToken,
    "id" | "name" | "scopes" | "rate_limit_per_minute" | "created_at" | "expires_at" | "revoked_at"
  >,
): z.input<typeof apiToken> {
  return {
    token_id: row.id,
    name: row.name,
    scopes: [...row.scopes],
    rate_limit_per_minute: row.rate_limit_per_minute,
    created_at: isoTime(row.created_at),
    expires_at: row.expires_at === null ? null : isoTime(row.expires_at),
    revoked_at: row.revoked_at === null ? null : isoTime(row.revoked_at),
  };
}

/** The start of hosted URIs: the service's public URL and its chain. */
interface Place {
  publicUrl: string;
  chainId: number;
}

export function placeOf(deps: { settings: { publicUrl: string }; chainId: number }): Place {
  return { publicUrl: deps.settings.publicUrl, chainId: deps.chainId };
}

function hostedBase(place: Place): string {
  return `${place.publicUrl}/metadata/${place.chainId.toString()}/`;
}

function hostedCollectionUri(place: Place, collection: string): string {
  return hostedBase(place) + collection;
}

function hostedTokenUri(place: Place, collection: string, type: CollectionType, tokenId: string): string {
  return `${hostedCollectionUri(place, collection)}/${tokenFile(type, tokenId)}`;
}

function selfHostedTokenUri(baseUri: string, type: CollectionType, tokenId: string): string {
  const file = tokenFile(type, tokenId);
  return type === "ERC721" ? baseUri + file : baseUri.replaceAll("{id}", file);
}

export function presentWallet(row: WalletRow) {
  return { address: row.address, user_identifier: row.user_identifier, watch_only: row.watch_only === 1 };
}

/** The webhook without its secrets. */
export function presentWebhook(row: ListedWebhook) {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    collections: row.collections,
    description: row.description,
    disabled_at: row.disabled_at === null ? null : isoTime(row.disabled_at),
    last_error: row.lastError,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

export function presentDelivery(row: LoggedDelivery): z.input<typeof delivery> {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    event_id: row.eventId,
    event_type: row.eventType,
    request_id: row.request_id,
    status: row.status,
    attempts: row.tries,
    // A delivery that is due at once is stored with time 0.
    next_attempt_at: row.next_at === null ? null : isoTime(Math.max(row.next_at, row.updated_at)),
    response_status: row.response_status,
    response_body: row.response_body,
    error: row.error,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

/**
 * Formatting a time is slow, and the tokens of a page often have the same: that of their block.
 * @param milliseconds since 1970.
 */
export const isoTime = remember(1_024, (milliseconds: number) => new Date(milliseconds).toISOString());

/** @throws ApiError `not_found` when nothing was found, or it belongs to another app. */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw new ApiError("not_found");
  return value;
}

/** The same for the answer of a look-up for one thing. */
export function foundOne<T>([value]: readonly (T | undefined)[]): T {
  return found(value);
}
