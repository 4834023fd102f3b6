import { answerOf, type Client, type Shape } from "../../../client/client.ts";
import { check, TourError } from "./check.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

/** A completed request. */
export interface Completed {
  requestId: string;
  transaction: string;
  /** Set when the request created a collection or a token. */
  collection: string | null;
  tokenId: Shape<"Integer"> | null;
}

/** Milliseconds to wait for a webhook before polling the request, and how often. */
const LATE = 5_000;
const LOOKS = 24;

/** Waits for requests, and stores the transaction of each. */
export class Requests {
  readonly #api: Client;
  readonly #webhooks: WebhookReceiver;
  readonly #signal: AbortSignal;
  readonly #transactions = new Map<string, string>();

  constructor(api: Client, webhooks: WebhookReceiver, signal: AbortSignal) {
    this.#api = api;
    this.#webhooks = webhooks;
    this.#signal = signal;
  }

  /** All completed requests. */
  get ids(): string[] {
    return [...this.#transactions.keys()];
  }

  /** Number of completed requests in the transaction. */
  sharing(transaction: string): number {
    return [...this.#transactions.values()].filter((hash) => hash === transaction).length;
  }

  /**
   * Waits for the webhook of the request. If no webhook arrives in time, polls the request.
   * @throws TourError when the request fails or takes too long.
   */
  async completed(requestId: string): Promise<Completed> {
    for (let look = 0; look < LOOKS; look++) {
      const event = await this.#webhooks.outcome(requestId, LATE, this.#signal);
      if (event !== null) {
        check(event.type === "completed", `request ${requestId} failed: ${event.error_code ?? "no error code"}`);
        return this.#remember(requestId, event.transaction_hash, event.nft_collection, event.nft_token_id);
      }
      const request = await answerOf(
        this.#api.GET("/v1/requests/{request_id}", { params: { path: { request_id: requestId } } }),
      );
      check(request.status !== "failed", `request ${requestId} failed: ${request.error_code ?? "no error code"}`);
      if (request.status === "completed") {
        return this.#remember(requestId, request.transaction_hash, request.nft_collection, request.nft_token_id);
      }
    }
    throw new TourError(`Request ${requestId} is not completed after ${(LATE * LOOKS) / 1000} seconds.`);
  }

  #remember(
    requestId: string,
    transaction: string | null,
    collection: string | null = null,
    tokenId: Shape<"Integer"> | null = null,
  ): Completed {
    check(transaction !== null, `request ${requestId} completed without a transaction`);
    this.#transactions.set(requestId, transaction);
    return { requestId, transaction, collection, tokenId };
  }
}
