import { answerOf } from "../../../client/client.ts";
import { check, TourError } from "./check.ts";
/** Milliseconds to wait for a webhook before polling the request, and how often. */
const LATE = 5_000;
const LOOKS = 24;
/** Waits for requests, and stores the transaction of each. */
export class Requests {
    #api;
    #webhooks;
    #signal;
    #transactions = new Map();
    constructor(api, webhooks, signal) {
        this.#api = api;
        this.#webhooks = webhooks;
        this.#signal = signal;
    }
    /** All completed requests. */
    get ids() {
        return [...this.#transactions.keys()];
    }
    /** Number of completed requests in the transaction. */
    sharing(transaction) {
        return [...this.#transactions.values()].filter((hash) => hash === transaction).length;
    }
    /**
     * Waits for the webhook of the request. If no webhook arrives in time, polls the request.
     * @throws TourError when the request fails or takes too long.
     */
    async completed(requestId) {
        for (let look = 0; look < LOOKS; look++) {
            const event = await this.#webhooks.outcome(requestId, LATE, this.#signal);
            if (event !== null) {
                check(event.type === "completed", `request ${requestId} failed: ${event.error_code ?? "no error code"}`);
                return this.#remember(requestId, event.transaction_hash, event.nft_collection, event.nft_token_id);
            }
            const request = await answerOf(this.#api.GET("/v1/requests/{request_id}", { params: { path: { request_id: requestId } } }));
            check(request.status !== "failed", `request ${requestId} failed: ${request.error_code ?? "no error code"}`);
            if (request.status === "completed") {
                return this.#remember(requestId, request.transaction_hash, request.nft_collection, request.nft_token_id);
            }
        }
        throw new TourError(`Request ${requestId} is not completed after ${(LATE * LOOKS) / 1000} seconds.`);
    }
    #remember(requestId, transaction, collection = null, tokenId = null) {
        check(transaction !== null, `request ${requestId} completed without a transaction`);
        this.#transactions.set(requestId, transaction);
        return { requestId, transaction, collection, tokenId };
    }
}
