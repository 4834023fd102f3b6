import { answerOf, ApiRefusal, type Client, type Shape, type WebhookEvent } from "@moneta/client";

import { fileOf, type Picture } from "./catalog.ts";
import type { Outcome, Store } from "./store.ts";
import type { Visitor } from "./visitors.ts";

/* Every call of the shop to Moneta is in this file. */

const COLLECTION = { name: "Postcards of the example shop", symbol: "POSTCARD" };
/** Anybody can become a visitor, so the contract itself bounds what all of them together can claim. */
const MOST_TOKENS = 10_000;

/** The shop's collection. It is created at the first start. @returns its address. */
export async function openCollection(client: Client): Promise<string> {
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? {} : { cursor };
    const page = await answerOf(client.GET("/v1/collections", { params: { query } }));
    const found = page.collections.find(({ symbol, name }) => symbol === COLLECTION.symbol && name === COLLECTION.name);
    if (found !== undefined) return found.address;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);

  // With this key the call creates one collection, however often it is repeated after a crash.
  const header = { "Idempotency-Key": "shop-collection" };
  const body = { type: "ERC721" as const, ...COLLECTION, mint_supply_count: MOST_TOKENS };
  const { request_id: requestId } = await answerOf(client.POST("/v1/collections", { params: { header }, body }));
  return (await client.waitFor(requestId, { type: "collection" })).nft_collection;
}

/** Tells Moneta where to send events. @returns the secret that signs them. */
export async function registerWebhook(client: Client, url: string, store: Store): Promise<string> {
  const body = { url, events: ["completed" as const, "error" as const, "corrected" as const] };
  const registered = await answerOf(client.PUT("/v1/webhook", { body }));
  // Only the first registration returns the secret. If it was lost, a new one replaces it.
  const secret =
    registered.secret ?? store.secret("webhook") ?? (await answerOf(client.POST("/v1/webhook/secret", {}))).secret;
  store.keepSecret("webhook", secret);
  return secret;
}

/** The wallet of a visitor. @returns its address. */
export async function createWallet(client: Client, visitorId: string): Promise<string> {
  return (await client.getOrCreateWallet(`shop-visitor-${visitorId}`)).address;
}

/**
 * Mints the picture for the visitor. The key names what may happen only once: this visitor's claim of this picture. So a
 * double click, a reload and a call that is repeated after a crash all get the same request. @returns its id.
 */
export async function mint(
  client: Client,
  collection: string,
  claim: { visitor: Visitor; picture: Picture; attempt: number },
): Promise<string> {
  const { visitor, picture, attempt } = claim;
  const { uri } = await client.uploadMedia(await fileOf(picture));
  const header = { "Idempotency-Key": `shop-claim-${visitor.id}-${picture.id}-${attempt}` };
  const body = {
    collection_address: collection,
    to_address: visitor.wallet,
    name: `${picture.title}, postcard {token_id}`,
    description: `${picture.alt}. Claimed by ${visitor.name}.`,
    image: uri,
  };
  return (await answerOf(client.POST("/v1/nfts", { params: { header }, body }))).request_id;
}

/** What became of a request, or null while it is under way. */
export async function askOutcome(client: Client, requestId: string): Promise<Outcome | null> {
  const path = { request_id: requestId };
  const request = await answerOf(client.GET("/v1/requests/{request_id}", { params: { path } }));
  if (request.status !== "completed" && request.status !== "failed") return null;
  return outcome(request.nft_token_id, request.error_code);
}

/** What a webhook says about a request. `corrected` replaces an earlier outcome: the chain has changed its mind. */
export function outcomeOf(event: WebhookEvent): Outcome | null {
  if (event.type === "test" || event.type === "sent") return null;
  return outcome(event.nft_token_id ?? null, event.error_code ?? null);
}

function outcome(tokenId: Shape<"Integer"> | null, errorCode: string | null): Outcome {
  return errorCode === null
    ? { status: "arrived", tokenId: tokenId === null ? null : String(tokenId), errorCode: null }
    : { status: "failed", tokenId: null, errorCode };
}

/** Whether a later try of the same call may succeed. */
export function isBusy(error: unknown): boolean {
  return error instanceof ApiRefusal && (error.status === 429 || error.status >= 500);
}
