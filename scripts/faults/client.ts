import { setTimeout as wait } from "node:timers/promises";

import type { Random } from "../scene/random.ts";

type Body = Record<string, unknown>;

/** Milliseconds for which a call is retried while the service is unavailable. On a busy machine many processes start slowly. */
const RETRY_TIMEOUT = 180_000;

/** An app that repeats each call with the same idempotency key until it gets an answer. */
export class RetryingClient {
  readonly #bases: readonly string[];
  readonly #token: string;
  readonly #random: Random;
  #keys = 0;
  #internalErrors = 0;
  #unavailable = 0;

  /** @param bases URLs of the API processes. Each try goes to any of them. */
  constructor(bases: readonly string[], token: string, random: Random) {
    this.#bases = bases;
    this.#token = token;
    this.#random = random;
  }

  /** @returns the request id; null when the service refused the call, or accepted it without making a request. */
  async accept(path: string, body: Body, method: "POST" | "PATCH" = "POST"): Promise<string | null> {
    const answer = await this.#retry(method, path, body, method === "POST" ? this.#newKey() : {});
    const { request_id: id } = answer.body;
    return answer.status === 200 && typeof id === "string" ? id : null;
  }

  /** @returns the request id of each item; null for one that the service refused. */
  async acceptBatch(path: string, items: readonly Body[]): Promise<(string | null)[]> {
    const { status, body } = await this.#retry("POST", path, { items }, this.#newKey());
    const { results } = body as { results?: { request_id?: string }[] };
    if (status !== 200 || results?.length !== items.length) {
      throw new Error(`POST ${path} answered ${status.toString()}: ${JSON.stringify(body)}`);
    }
    return results.map(({ request_id: id }) => id ?? null);
  }

  /** @returns the `ipfs://` address of an uploaded picture. */
  async upload(picture: string): Promise<string> {
    const deadline = performance.now() + RETRY_TIMEOUT;
    const send = () => this.#retry("POST", "/v1/media", picture, { "content-type": "image/svg+xml" });
    let answer = await send();
    // Tries that this client gave up may still hold the app's places for uploads.
    for (; answer.status === 429 && performance.now() < deadline; answer = await send()) await wait(1_000);
    const { status, body } = answer;
    if (status === 200 && typeof body["uri"] === "string") return body["uri"];
    throw new Error(`POST /v1/media answered ${status.toString()}: ${JSON.stringify(body)}`);
  }

  #newKey(): { "idempotency-key": string } {
    const key = `campaign-${(this.#keys++).toString()}-${this.#random.integer(0, 1e9).toString()}`;
    return { "idempotency-key": key };
  }

  async ok(method: string, path: string, body?: Body): Promise<Body> {
    const answer = await this.#retry(method, path, body, {});
    if (answer.status !== 200) {
      throw new Error(`${method} ${path} answered ${answer.status.toString()}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  /**
   * How many calls were answered with status 500 since the last question. It means that the service met an error that it
   * did not expect.
   */
  takeInternalErrors(): number {
    const errors = this.#internalErrors;
    this.#internalErrors = 0;
    return errors;
  }

  /** How many calls were answered with status 503 since the last question. */
  takeUnavailable(): number {
    const unavailable = this.#unavailable;
    this.#unavailable = 0;
    return unavailable;
  }

  async #retry(
    method: string,
    path: string,
    body: Body | string | undefined,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: Body }> {
    const deadline = performance.now() + RETRY_TIMEOUT;
    for (;;) {
      try {
        const response = await fetch(this.#random.pick(this.#bases) + path, {
          method,
          headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
          signal: AbortSignal.timeout(20_000),
        });
        if (response.status === 500) this.#internalErrors++;
        if (response.status === 503) this.#unavailable++;
        // After a 5xx the outcome is unknown. A retry with the same key finds it out.
        if (response.status < 500) return { status: response.status, body: (await response.json()) as Body };
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      if (performance.now() > deadline)
        throw new Error(
          `${method} ${path} got no answer below 500 within ${(RETRY_TIMEOUT / 1000).toString()} s ` +
            `(${this.#unavailable.toString()} answers with status 503 in this round)`,
        );
      await wait(50);
    }
  }
}
