import { setTimeout as wait } from "node:timers/promises";

import { NAMED_EVENTS } from "../../api/domain/events.ts";
import { createClient } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import type { Random } from "../scene/random.ts";
import type { Records } from "../scene/records.ts";

/** Most events that are taken from one connection. */
const MOST = 40;
/** Milliseconds within which every event must arrive once the faults are over. */
const TIMEOUT = 120_000;
const FEED = "select id from events where position is not null and app_id = ? order by position";

/** Reads the app's event stream, with events of all types, and reconnects all the time, to any API process. */
export class Follower {
  /** Ids of the events, in the order in which they came. */
  readonly #seen: string[] = [];
  readonly #stopping = new AbortController();
  readonly #random: Random;
  readonly #bases: readonly string[];
  readonly #token: string;
  readonly #appId: string;
  readonly #running: Promise<void>;
  #problem: string | null = null;

  /** @param bases URLs of the API processes. */
  constructor(bases: readonly string[], app: { appId: string; token: string }, random: Random) {
    this.#bases = bases;
    this.#token = app.token;
    this.#appId = app.appId;
    this.#random = random;
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#problem = error instanceof Error ? error.message : String(error);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Waits until the stream has caught up. @returns a sentence for each difference from the feed. */
  async differences(records: Records): Promise<string[]> {
    if (this.#problem !== null) return [`the event stream failed: ${this.#problem}`];
    const seen = this.#seen;
    const deadline = performance.now() + TIMEOUT;
    for (;;) {
      const wanted = (await records.all<{ id: string }>(FEED, this.#appId)).map(({ id }) => id);
      const wrong = wanted.findIndex((id, index) => seen[index] !== id);
      if (wrong === -1 && seen.length === wanted.length) return [];
      if (performance.now() > deadline) {
        const place = wrong === -1 ? wanted.length : wrong;
        const sizes = `${seen.length.toString()} events came, the feed has ${wanted.length.toString()}`;
        return [`the event stream differs at ${place.toString()}: ${String(seen[place])} came; ${sizes}`];
      }
      await wait(100);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let after = "start";
    while (!signal.aborted) {
      let left = this.#random.integer(1, MOST);
      const client = createClient({ baseUrl: this.#random.pick(this.#bases), token: this.#token, signal });
      // When its process dies, any other can continue.
      const lost = new AbortController();
      const onLost = () => {
        lost.abort();
      };
      try {
        for await (const { cursor, event } of client.events({
          types: NAMED_EVENTS,
          after,
          signal: lost.signal,
          onLost,
        })) {
          this.#seen.push(event.id);
          after = cursor;
          left -= 1;
          if (left === 0) break;
        }
      } catch (error) {
        // A disk that fails answers 500.
        const passes = lost.signal.aborted || (error instanceof ApiRefusal && error.status >= 500);
        if (!passes) throw error;
        await wait(50, undefined, { signal });
      }
    }
  }
}
