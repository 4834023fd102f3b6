import { answerOf, type Client, type Shape } from "../../../api/client/client.ts";
import { check, TourError } from "./check.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

/** A request that reached the chain and did what it should. */
export interface Completed {
  requestId: string;
  transaction: string;
  /** Where a collection or a token was created. */
  collection: string | null;
  tokenId: Shape<"Integer"> | null;
}

/** Milliseconds after which a webhook counts as late, and how often one is given that long. */
const LATE = 5_000;
const LOOKS = 8;

/** Waits for requests, and remembers which transaction each was in. */
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

  /** Every request that completed so far. */
  get ids(): string[] {
    return [...this.#transactions.keys()];
  }

  /** How many of them one transaction carried. */
  sharing(transaction: string): number {
    return [...this.#transactions.values()].filter((hash) => hash === transaction).length;
  }

  /**
   * The webhook says when a request is done. A webhook can be lost, so when none comes the request itself is asked.
   * @throws TourError when the request failed, or does not end.
   */
  async completed(requestId: string): Promise<Completed> {
    for (let look = 0; look < LOOKS; look++) {
      const event = await this.#webhooks.outcome(requestId, LATE, this.#signal);
      if (event !== null) {
        check(event.type === "completed", `request ${requestId} failed: ${event.error_code ?? "without a reason"}`);
        return this.#remember(requestId, event.transaction_hash, event.nft_collection, event.nft_token_id);
      }
      const request = await answerOf(
        this.#api.GET("/v1/requests/{request_id}", { params: { path: { request_id: requestId } } }),
      );
      check(request.status !== "failed", `request ${requestId} failed: ${request.error_code ?? "without a reason"}`);
      if (request.status === "completed") {
        return this.#remember(requestId, request.transaction_hash, request.nft_collection, request.nft_token_id);
      }
    }
    throw new TourError(`Request ${requestId} is not done after ${(LATE * LOOKS) / 1000} seconds.`);
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
