import type { Response } from "express";

import { Signal } from "../../shared/signal.ts";
import { callerAddress } from "../rate-limit.ts";

/** All in milliseconds. How long a call waits for the indexer, and how often it looks for what another process has stored. */
const LONGEST = 2_000;
const POLL = 250;
/** Calls that wait at the same time: in all, and of one client. Further ones are answered at once. */
const MOST = 64;
const MOST_OF_CLIENT = 4;

/**
 * A marketplace reads the metadata of a token as soon as it sees the block of the mint, which may be before the indexer has stored
 * it. Such a call waits for the next steps of the indexer: a marketplace may remember a 404 for long.
 */
export class NewTokens {
  /** Calls that wait, by client. */
  readonly #waiting = new Map<string, number>();
  #all = 0;
  readonly #wake = new Signal();

  /** @param stored raised in this process when the indexer has stored blocks. */
  constructor(stored: Pick<Signal, "listen">) {
    stored.listen(() => {
      this.#wake.notify();
    });
  }

  /** @returns what `read` finds in time; null: nothing. */
  async waitFor<T>(response: Response, read: () => Promise<T | null>): Promise<T | null> {
    const client = callerAddress(response.req);
    const ofClient = this.#waiting.get(client) ?? 0;
    if (this.#all >= MOST || ofClient >= MOST_OF_CLIENT) return null;
    this.#count(client, 1);
    try {
      const until = performance.now() + LONGEST;
      for (let left = LONGEST; left > 0 && !response.destroyed; left = until - performance.now()) {
        await this.#wake.wait(Math.min(POLL, left));
        const found = await read();
        if (found !== null) return found;
      }
      return null;
    } finally {
      this.#count(client, -1);
    }
  }

  #count(client: string, change: 1 | -1): void {
    this.#all += change;
    const calls = (this.#waiting.get(client) ?? 0) + change;
    if (calls === 0) this.#waiting.delete(client);
    else this.#waiting.set(client, calls);
  }
}
