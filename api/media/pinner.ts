import type { Logger } from "pino";

import type { BlockFiles } from "../ipfs/block-files.ts";
import { pause } from "../shared/pause.ts";
import type { Signal } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import { AT_ONCE } from "../store/db/due.ts";
import { type DuePin, finishPin, LONGEST_PIN_WAIT, renewPins, returnPin, takePins } from "../store/media/pins.ts";
import { pinAtKubo, wordsOfPinError } from "./pin.ts";

export interface PinnerDeps {
  database: Database;
  blocks: BlockFiles;
  /** RPC address of the operator's Kubo node. */
  rpc: string;
  wake: Signal;
  logger: Logger;
  now: () => number;
}

/** All times in milliseconds. A process that dies keeps its pins from others for no longer than a lease. */
const LEASE = 15_000;
const RENEW = 5_000;
const LOOK = 1_000;
/** Wait before the second try; each further one is twice as long. */
const FIRST_WAIT = 1_000;
/** While the node fails at everything it is asked no more often, however much waits. */
const LONGEST_PAUSE = 60_000;
/** Handed over side by side. */
const CONCURRENCY = 4;

/** Has everything that is hosted pinned at the operator's node. No request waits for it. */
export class Pinner {
  readonly #deps: PinnerDeps;

  constructor(deps: PinnerDeps) {
    this.#deps = deps;
  }

  async run(abort: AbortSignal): Promise<void> {
    const { database, wake, logger, now } = this.#deps;
    let failures = 0;
    while (!abort.aborted) {
      try {
        const pins = await database.write((trx) =>
          takePins(trx, { now: now(), leaseUntil: now() + LEASE, limit: CONCURRENCY }),
        );
        if (pins.length === 0) {
          await wake.wait(LOOK, abort);
          continue;
        }
        failures = (await this.#pinAll(pins, abort)) ? 0 : failures + 1;
      } catch (error) {
        failures += 1;
        logger.error({ err: error }, "what is to be pinned cannot be read or recorded");
      }
      if (failures > 0) await pause(waitAfter(failures, LONGEST_PAUSE), abort);
    }
  }

  /** @returns whether the node took any of them. */
  async #pinAll(pins: DuePin[], abort: AbortSignal): Promise<boolean> {
    const { database, logger, now } = this.#deps;
    const renewing = setInterval(() => {
      database
        .write((trx) => renewPins(trx, pins, now() + LEASE))
        .catch((error: unknown) => {
          // A lease that runs out costs a second try and nothing else.
          logger.warn({ err: error }, "the lease of what is being pinned was not renewed");
        });
    }, RENEW);
    try {
      const results = await Promise.all(pins.map((pin) => this.#pin(pin, abort)));
      // Recorded together: an outcome that a renewal overtook would be a pin done twice.
      clearInterval(renewing);
      await database.write(async (trx) => {
        for (const [index, pin] of pins.entries()) await this.#record(trx, pin, results[index] ?? null, abort);
      });
      return results.includes(null);
    } finally {
      clearInterval(renewing);
    }
  }

  /** @returns what went wrong, in words; null when it is pinned. */
  async #pin(pin: DuePin, abort: AbortSignal): Promise<string | null> {
    const { rpc, blocks, logger } = this.#deps;
    try {
      await pinAtKubo(rpc, blocks, pin.cid, abort);
      logger.debug({ cid: pin.cid }, "pinned");
      return null;
    } catch (error) {
      const words = wordsOfPinError(error);
      if (!abort.aborted) logger.warn({ err: error, cid: pin.cid, reason: words }, "not pinned; it is tried again");
      return words;
    }
  }

  async #record(
    trx: Parameters<typeof finishPin>[0],
    pin: DuePin,
    problem: string | null,
    abort: AbortSignal,
  ): Promise<void> {
    if (problem === null) await finishPin(trx, pin);
    // Whoever starts next goes on with it.
    else if (abort.aborted) await returnPin(trx, pin, AT_ONCE, null);
    else await returnPin(trx, pin, this.#deps.now() + waitAfter(pin.tries + 1, LONGEST_PIN_WAIT), problem);
  }
}

function waitAfter(failures: number, longest: number): number {
  return Math.min(FIRST_WAIT * 2 ** Math.min(failures - 1, 20), longest);
}
