import { readFile, writeFile } from "node:fs/promises";

import { answerOf, createClient } from "@moneta/client";

// Every call to Moneta is in this file.

const COLLECTION = { type: "ERC721", name: "Coins", symbol: "COIN", mint_supply_count: 1_000 };
const SECRET_FILE = ".webhook-secret";

export class Moneta {
  /** @param {{ url: string, token: string }} settings */
  constructor({ url, token }) {
    this.client = createClient({ baseUrl: url, token });
  }

  /** Creates the app's collection at the first start. With the key, one is created also if the app stops in between. */
  async openCollection() {
    this.collection = (await this.#findCollection()) ?? (await this.#createCollection());
    // The same bytes are stored once.
    this.picture = (await this.client.uploadMedia(await readFile("picture.svg"), { type: "image/svg+xml" })).uri;
  }

  async #findCollection() {
    const params = { query: { search: COLLECTION.symbol } };
    const { collections } = await answerOf(this.client.GET("/v1/collections", { params }));
    return collections.find(({ name, symbol }) => name === COLLECTION.name && symbol === COLLECTION.symbol)?.address;
  }

  async #createCollection() {
    const params = { header: { "Idempotency-Key": `collection-${COLLECTION.symbol}` } };
    const { request_id: id } = await answerOf(this.client.POST("/v1/collections", { params, body: COLLECTION }));
    return (await this.client.waitFor(id, { type: "collection" })).nft_collection;
  }

  /** Tells Moneta where to send events, and keeps the secret that signs them. */
  async registerWebhook(url) {
    const body = { url, events: ["completed", "error", "corrected"] };
    const { secret } = await answerOf(this.client.PUT("/v1/webhook", { body }));
    const known = await readFile(SECRET_FILE, "utf8").catch(() => null);
    // Only the first registration returns the secret. If it is lost, a new one takes its place.
    this.webhookSecret = secret ?? known ?? (await answerOf(this.client.POST("/v1/webhook/secret", {}))).secret;
    if (this.webhookSecret !== known) await writeFile(SECRET_FILE, this.webhookSecret, { mode: 0o600 });
  }

  /**
   * Mints a token for a user, who gets a wallet if there is none.
   * @param key what may happen only once, such as the id of an order.
   */
  async mint(user, key) {
    const params = { header: { "Idempotency-Key": `mint-${key}` } };
    const body = { collection_address: this.collection, to_user: user, name: "Coin {token_id}", image: this.picture };
    return (await answerOf(this.client.POST("/v1/nfts", { params, body }))).request_id;
  }

  /** The newest requests of a user: what waits, what is done, and what failed and why. */
  async requestsOf(user) {
    const query = { user, type: "mint", limit: 20 };
    return (await answerOf(this.client.GET("/v1/requests", { params: { query } }))).requests;
  }
}
