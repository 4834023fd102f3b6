import type { Logger } from "pino";

import type { ChainClient } from "../../chain/client.ts";
import { ChainUnavailable, RpcError } from "../../chain/errors.ts";
import { readCloneTarget } from "../../chain/reads.ts";
import { waitAfterTries } from "../../domain/verification.ts";
import { logParked } from "../../shared/isolate.ts";
import type { LeaseTimes } from "../../shared/lease.ts";
import { pause } from "../../shared/pause.ts";
import { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import type { Database } from "../../store/db/database.ts";
import { isOutage, parkRows } from "../../store/db/parked-rows.ts";
import type { Trx } from "../../store/db/sql.ts";
import { WorkLease } from "../../store/db/work-lease.ts";
import {
  type DueVerification,
  dueVerifications,
  failVerification,
  finishVerification,
  putOffVerification,
} from "../../store/listings/verifications.ts";
import { VerifierFailed } from "../deploy/verifiers.ts";
import { type CloneVerifier, type Verdict, VerifierUnavailable } from "./clone-verifiers.ts";

interface CollectionVerifierDeps {
  database: Database;
  client: Pick<ChainClient, "code">;
  verifier: CloneVerifier;
  logger: Logger;
  now: () => number;
  lease: LeaseTimes;
  times?: VerifierTimes;
}

/** In milliseconds. */
interface VerifierTimes {
  /** Between two checks for collections that are due. */
  poll: number;
  /** From one collection to the next. The verifier also limits its callers. */
  pace: number;
  /** While the verifier cannot be used. */
  backoff: { first: number; longest: number };
}

const TIMES: VerifierTimes = { poll: 10_000, pace: 1_000, backoff: { first: 1_000, longest: 600_000 } };
/** Before a collection is tried again whose try did not count, in milliseconds: the others go first. */
const PUT_OFF = 60_000;

/**
 * Asks a verifier about each collection that is listed, also about those of the time before it was set. One process does so at a
 * time, one collection after the other, and nothing waits for it. After a crash the same question is asked again, which changes
 * nothing at the verifier.
 */
export class CollectionVerifier {
  readonly #deps: CollectionVerifierDeps;
  readonly #times: VerifierTimes;
  readonly #lease: WorkLease;
  readonly #loop: WorkLoop;
  /** Monotonic time until which the verifier asks not to be called. */
  #restUntil = 0;
  /** Whether the last question got no verdict. Then an empty queue does not show that the verifier answers again. */
  #isFaulty = false;

  constructor(deps: CollectionVerifierDeps) {
    this.#deps = deps;
    this.#times = deps.times ?? TIMES;
    this.#lease = new WorkLease("verifier", { ...deps, times: deps.lease });
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: new Signal(),
      pollInterval: this.#times.poll,
      messages: {
        failed: "collections cannot be verified; retrying",
        recovered: "collections can be verified again",
      },
      backoff: this.#times.backoff,
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    try {
      await this.#loop.run((stop) => this.#step(stop), abort);
    } finally {
      await this.#deps.verifier.close();
    }
    await this.#lease.release();
  }

  async #step(abort: AbortSignal): Promise<StepResult> {
    if ((await this.#next()) === undefined) {
      await this.#lease.release();
      return this.#isFaulty ? "full" : "idle";
    }
    if (performance.now() < this.#restUntil) return "full";
    return (await this.#lease.step(abort, (held) => this.#verifyNext(held))) ?? "idle";
  }

  async #next(): Promise<DueVerification | undefined> {
    const [due] = await dueVerifications(this.#deps.database.read, this.#deps.now(), 1);
    return due;
  }

  async #verifyNext(abort: AbortSignal): Promise<StepResult> {
    const { logger } = this.#deps;
    // Another process may have done it since the check.
    const due = await this.#next();
    if (due === undefined) return "idle";
    let verdict: Verdict;
    try {
      verdict = await this.#ask(due, abort);
    } catch (error) {
      // The next process asks again. Being stopped does not count as a try.
      if (abort.aborted) return "idle";
      this.#isFaulty = true;
      await this.#storeFault(due, error);
      throw error;
    }
    this.#isFaulty = false;
    if ("refused" in verdict) await this.#storeRefusal(due, verdict.refused);
    else {
      const [{ verified }, { address: collection }] = [verdict, due];
      const stored = await this.#store(due, (trx) => finishVerification(trx, collection, verified, this.#deps.now()));
      if (stored) logger.info({ collection, verified }, "the verifier has the sources of this collection");
    }
    await pause(this.#times.pace, abort);
    return "again";
  }

  async #ask({ address }: DueVerification, abort: AbortSignal): Promise<Verdict> {
    const implementation = await readCloneTarget(this.#deps.client, address, abort);
    if (implementation === null) return { refused: "its code on the chain is not that of a clone" };
    return this.#deps.verifier.verify({ address, implementation }, abort);
  }

  /** @param error of the verifier or of the node; from this program, it parks the row. */
  async #storeFault(due: DueVerification, error: unknown): Promise<void> {
    if (error instanceof VerifierFailed) {
      await this.#storeRefusal(due, error.message);
      return;
    }
    if (error instanceof VerifierUnavailable) this.#restUntil = performance.now() + (error.retryAfter ?? 0);
    if (error instanceof VerifierUnavailable || error instanceof ChainUnavailable || error instanceof RpcError) {
      const now = this.#deps.now();
      const { message } = error;
      const later = { dueAt: now + PUT_OFF, counts: false, error: message, now };
      await this.#store(due, (trx) => putOffVerification(trx, due, later));
    } else if (!isOutage(error)) await this.#park(due, error);
  }

  /** Puts the collection off, or gives it up after the last try. */
  async #storeRefusal(due: DueVerification, reason: string): Promise<void> {
    const { logger } = this.#deps;
    const now = this.#deps.now();
    const tries = due.tries + 1;
    const wait = waitAfterTries(tries);
    const words = { collection: due.address, tries, reason };
    if (wait === null) {
      if (await this.#store(due, (trx) => failVerification(trx, due, reason, now)))
        logger.error(words, "the verification of this collection has failed; `contract verify` tries it again");
      return;
    }
    const later = { dueAt: now + wait, counts: true, error: reason, now };
    if (await this.#store(due, (trx) => putOffVerification(trx, due, later)))
      logger.warn(words, "this collection is not verified; retrying later");
  }

  /**
   * A row that the database refuses to change must not keep the others from being verified. It is parked.
   * @returns whether it was changed.
   */
  async #store(due: DueVerification, write: (trx: Trx) => Promise<void>): Promise<boolean> {
    try {
      await this.#lease.fenced.write(write);
      return true;
    } catch (error) {
      if (isOutage(error)) throw error;
      await this.#park(due, error);
      return false;
    }
  }

  async #park({ address: id }: DueVerification, error: unknown): Promise<void> {
    const { logger, now } = this.#deps;
    const parked = await this.#lease.fenced.write((trx) => parkRows(trx, "verification", [{ id, error }], now()));
    logParked(logger, "verification", parked);
  }
}
