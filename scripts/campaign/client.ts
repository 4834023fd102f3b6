import { setTimeout as wait } from "node:timers/promises";

import type { Random } from "./random.ts";

export type Body = Record<string, unknown>;

/** Longest that a call is tried again while the service is away, in milliseconds. */
const TIMEOUT = 60_000;

/** An app that does not give up: each call is repeated under its idempotency key until there is an answer. */
export class PatientClient {
  readonly #base: string;
  readonly #token: string;
  readonly #random: Random;
  #keys = 0;

  constructor(base: string, token: string, random: Random) {
    this.#base = base;
    this.#token = token;
    this.#random = random;
  }

  /** @returns the request id, or null when the service refused the call for good, or there was nothing to do. */
  async accept(path: string, body: Body, method: "POST" | "PATCH" = "POST"): Promise<string | null> {
    const key = `campaign-${(this.#keys++).toString()}-${this.#random.whole(0, 1e9).toString()}`;
    const answer = await this.#insist(method, path, body, method === "POST" ? { "idempotency-key": key } : {});
    const { request_id: id } = answer.body;
    return answer.status === 200 && typeof id === "string" ? id : null;
  }

  async ok(method: string, path: string, body?: Body): Promise<Body> {
    const answer = await this.#insist(method, path, body, {});
    if (answer.status !== 200) {
      throw new Error(`${method} ${path} answered ${answer.status.toString()}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  async #insist(
    method: string,
    path: string,
    body: Body | undefined,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: Body }> {
    const deadline = performance.now() + TIMEOUT;
    for (;;) {
      try {
        const response = await fetch(this.#base + path, {
          method,
          headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(20_000),
        });
        // A 5xx proves nothing: only a repetition tells what happened.
        if (response.status < 500) return { status: response.status, body: (await response.json()) as Body };
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      if (performance.now() > deadline) throw new Error(`${method} ${path} had no answer in time`);
      await wait(50);
    }
  }
}
