import type { Logger } from "pino";

import type { BlockStore } from "../ipfs/block-store.ts";
import { isolate, logParked } from "../shared/isolate.ts";
import { type LeaseTimes, whileLeased } from "../shared/lease.ts";
import type { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { AT_ONCE } from "../store/db/due.ts";
import { type FailedRow, isOutage, parkRows } from "../store/db/parked-rows.ts";
import {
  type DuePin,
  duePins,
  finishPin,
  finishUnpin,
  LONGEST_PIN_WAIT,
  renewPins,
  returnPin,
  takePins,
} from "../store/media/pins.ts";
import { describePinError, pinAtKubo, unpinAtKubo } from "./pin.ts";

export interface PinnerDeps {
  database: Database;
  blocks: BlockStore;
  /** RPC address of the operator's Kubo node. */
  rpc: string;
  wake: Signal;
  logger: Logger;
  now: () => number;
  lease: LeaseTimes;
}

/** In milliseconds, like all times here. */
const POLL = 1_000;
/** Wait before the second try of a pin. It doubles with each further try. */
const FIRST_WAIT = 1_000;
/** Longest backoff while the Kubo node accepts nothing. */
const BACKOFF = { first: 1_000, longest: 60_000 };
/** Pins at the same time. */
const CONCURRENCY = 4;

/** The Kubo node did nothing that a step asked for. */
class NothingPinned extends Error {
  override readonly name = "NothingPinned";
}

/** Pins all hosted content at the operator's Kubo node, and removes the pins of other content. No request waits for it. */
export class Pinner {
  readonly #deps: PinnerDeps;
  readonly #loop: WorkLoop;

  constructor(deps: PinnerDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: deps.wake,
      pollInterval: POLL,
      messages: {
        failed: "content cannot be pinned or unpinned at the IPFS node; retrying",
        recovered: "the IPFS node pins and unpins content again",
      },
      backoff: BACKOFF,
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run((stop) => this.#step(stop), abort);
  }

  /** @throws NothingPinned */
  async #step(abort: AbortSignal): Promise<StepResult> {
    const { logger, lease } = this.#deps;
    const pins = await this.#take();
    if (pins.length === 0) return "idle";
    const renewal = { renew: () => this.#renew(pins), every: lease.renewEvery };
    const problems = await whileLeased(renewal, abort, () => Promise.all(pins.map((pin) => this.#pin(pin, abort))));
    const results = pins.map((pin, index) => ({ pin, problem: problems[index] ?? null }));
    await this.#recordAll(results, abort);
    if (abort.aborted) return "idle";
    const [first] = problems;
    if (first != null && !problems.includes(null)) throw new NothingPinned(first);
    for (const [index, { cid }] of pins.entries()) {
      const reason = problems[index];
      if (reason != null) logger.warn({ cid, reason }, "the IPFS node did not pin or unpin this content; retrying");
    }
    return "again";
  }

  /** Takes due pins. Those that the database refuses to change are parked by their marks. */
  async #take(): Promise<DuePin[]> {
    const { database, now, lease } = this.#deps;
    const take = (only?: readonly string[]) => {
      const options = { now: now(), leaseUntil: now() + lease.lasts, limit: CONCURRENCY };
      return database.write((trx) => takePins(trx, { ...options, ...(only === undefined ? {} : { only }) }));
    };
    try {
      return await take();
    } catch (error) {
      if (isOutage(error)) throw error;
      const taken: DuePin[] = [];
      const takePart = async (part: readonly string[]) => {
        taken.push(...(await take(part)));
      };
      const failed = await isolate(await duePins(database.read, now(), CONCURRENCY), takePart, isOutage);
      if (failed.length === 0 && taken.length === 0) throw error;
      await this.#park(failed.map(({ row: id, error: cause }) => ({ id, error: cause })));
      return taken;
    }
  }

  async #park(failed: readonly FailedRow[]): Promise<void> {
    if (failed.length === 0) return;
    const { database, logger, now } = this.#deps;
    logParked(logger, "pin", await database.write((trx) => parkRows(trx, "pin", failed, now())));
  }

  async #renew(pins: DuePin[]): Promise<void> {
    const { database, now, lease } = this.#deps;
    try {
      await database.write((trx) => renewPins(trx, pins, now() + lease.lasts));
    } catch (error) {
      // Continue: if the lease expires, the content is pinned a second time, which changes nothing.
      this.#loop.report(error);
    }
  }

  /** Pins content, or removes the pin of content that is not hosted any more. @returns why that failed, or null. */
  async #pin(pin: DuePin, abort: AbortSignal): Promise<string | null> {
    const { rpc, blocks, logger } = this.#deps;
    try {
      if (pin.hosted) await pinAtKubo(rpc, blocks, pin.cid, abort);
      else await unpinAtKubo(rpc, pin.cid, abort);
      logger.debug({ cid: pin.cid }, pin.hosted ? "pinned" : "unpinned");
      return null;
    } catch (error) {
      logger.debug({ err: error, cid: pin.cid }, "not pinned");
      return describePinError(error);
    }
  }

  /** A result that cannot be stored must not keep the others from being stored. Its pin is parked. */
  async #recordAll(results: readonly { pin: DuePin; problem: string | null }[], abort: AbortSignal): Promise<void> {
    const record = (part: typeof results) =>
      this.#deps.database.write(async (trx) => {
        for (const { pin, problem } of part) await this.#record(trx, pin, problem, abort);
      });
    const failed = await isolate(results, record, isOutage);
    await this.#park(failed.map(({ row: { pin }, error }) => ({ id: pin.cid, error })));
  }

  async #record(
    trx: Parameters<typeof finishPin>[0],
    pin: DuePin,
    problem: string | null,
    abort: AbortSignal,
  ): Promise<void> {
    if (problem === null) await (pin.hosted ? finishPin : finishUnpin)(trx, pin);
    // The next process pins it. Being stopped does not count as a try.
    else if (abort.aborted) await returnPin(trx, pin, AT_ONCE, null);
    else await returnPin(trx, pin, this.#deps.now() + waitAfter(pin.tries + 1), problem);
  }
}

function waitAfter(tries: number): number {
  return Math.min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_PIN_WAIT);
}
