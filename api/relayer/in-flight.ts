import type { Logger } from "pino";

import { type BroadcastAnswer, classifyBroadcast } from "../chain/broadcast-errors.ts";
import type { ChainClient } from "../chain/client.ts";
import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import type { Keyring } from "../keys/keyring.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { Signals } from "../shared/signal.ts";
import { markSent, type OpenBatch, recordAttempt, type SignedAttempt } from "../store/sending/batches.ts";
import type { Database } from "../store/db/database.ts";
import { isDue } from "../store/db/due.ts";
import type { Lease } from "../store/sending/lanes.ts";
import { currentFees, FeesTooHigh, replacementFees } from "./fees.ts";
import { type Fees, signEmpty, signReplacement } from "./sign.ts";

/** Versions of a batch that are tried before its nonce is given up to a transaction that does nothing. */
const VERSIONS_BEFORE_EMPTY = 8;
/** A version whose fee is below what the node takes is replaced this soon, in milliseconds. */
const UNDERPRICED_WAIT = 10_000;
/** Fees that are too high for a replacement are not asked for again before this, in milliseconds. */
const TOO_HIGH_WAIT = 10_000;
/** Answers that somebody must hear of. */
const LOUD: ReadonlySet<BroadcastAnswer> = new Set(["no-funds", "refused"]);

/** In milliseconds. */
export interface ResendPolicy {
  /** Signed bytes that are not in a block are handed to the node again after this. */
  rebroadcastAfter: number;
  /** A transaction that is not in a block by then is replaced by one with a higher fee. */
  replaceAfter: number;
}

export interface InFlightDeps {
  database: Database;
  client: ChainClient;
  keyring: Keyring;
  signals: Signals;
  logger: Logger;
  now: () => number;
  resendPolicy: ResendPolicy;
  /** Most to be paid for a unit of gas, in wei. */
  maxFeePerGas: bigint;
}

/** A lane's transactions that are signed and committed, until a block takes them. */
export class InFlight {
  readonly #deps: InFlightDeps;
  /** The nonce that was last said to wait for lower fees. */
  #heldUp: number | null = null;
  /** By the clock that never jumps: until then fees count as too high. */
  #tooHighUntil = 0;

  constructor(deps: InFlightDeps) {
    this.#deps = deps;
  }

  /** Hands open batches to the node again, and replaces those that no block takes. */
  async watch(lease: Lease, open: OpenBatch[]): Promise<void> {
    const { now, resendPolicy } = this.#deps;
    const passed = (time: number, wait: number) => isDue(time + wait, now(), wait);
    for (const batch of open) {
      const latest = batch.attempts.at(-1);
      if (latest === undefined) throw new Error(`batch ${batch.id.toString()} has no attempt`);
      const { sentAt } = latest;
      if (sentAt !== null && !passed(sentAt, resendPolicy.rebroadcastAfter)) continue;
      const answer = await this.broadcast(latest.id, latest);
      // Blocks will tell what has used it: while they are not read, no further version is of any use.
      if (sentAt === null || answer === "nonce-used") continue;
      const wait =
        answer === "underpriced" ? Math.min(UNDERPRICED_WAIT, resendPolicy.replaceAfter) : resendPolicy.replaceAfter;
      if (passed(latest.createdAt, wait)) await this.#replace(lease, batch, latest);
    }
  }

  /**
   * A further version with the same nonce, committed before it is sent: the batch at a higher fee, or at last nothing at
   * all, so that what no node will take does not hold up every nonce behind it. While fees are too high for it, the
   * versions that there are must do.
   */
  async #replace(lease: Lease, batch: OpenBatch, latest: OpenBatch["attempts"][number]): Promise<void> {
    const { database, keyring, logger, now, resendPolicy } = this.#deps;
    // The lane looks at its batches with every request that comes: the node must not be asked as often.
    if (performance.now() < this.#tooHighUntil) return;
    const fees = await this.#replacementFees(latest);
    if (fees === null) {
      this.#tooHighUntil = performance.now() + Math.min(TOO_HIGH_WAIT, resendPolicy.replaceAfter);
      this.#sayTooHigh(batch.nonce);
      return;
    }
    const { key, address } = keyring.lane(lease.lane);
    const empty = batch.attempts.length >= VERSIONS_BEFORE_EMPTY;
    const attempt = empty ? signEmpty(key, address, latest.raw, fees) : signReplacement(key, latest.raw, fees);
    const attemptId = await database.write((trx) => recordAttempt(trx, lease, batch.id, attempt, now()));
    // A block took one of the versions meanwhile.
    if (attemptId === null) return;
    logger.warn(
      { nonce: batch.nonce, replaces: latest.hash, hash: attempt.hash, empty },
      "a transaction that no block takes was replaced at a higher fee",
    );
    await this.broadcast(attemptId, attempt);
  }

  async #replacementFees(previous: Fees): Promise<Fees | null> {
    const { client, maxFeePerGas } = this.#deps;
    try {
      return replacementFees(previous, await currentFees(client, maxFeePerGas), maxFeePerGas);
    } catch (error) {
      if (error instanceof FeesTooHigh) return null;
      throw error;
    }
  }

  /** Once for each nonce that it holds up. */
  #sayTooHigh(nonce: number): void {
    if (nonce === this.#heldUp) return;
    this.#heldUp = nonce;
    this.#deps.logger.error({ nonce }, "a transaction that no block takes needs a fee above MAX_FEE_GWEI");
  }

  /**
   * Hands signed bytes to the node. Whatever it answers, they may have reached the network: only blocks tell.
   * @returns what the node had against it, null when nothing.
   */
  async broadcast(attemptId: number, attempt: Pick<SignedAttempt, "hash" | "raw">): Promise<BroadcastAnswer | null> {
    const { client, database, logger, signals, now } = this.#deps;
    let answer: BroadcastAnswer | null = null;
    try {
      await client.broadcast(attempt.raw);
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof ChainUnavailable)) throw error;
      answer = classifyBroadcast(error);
      const fields = { hash: attempt.hash, answer, err: error };
      if (LOUD.has(answer)) logger.error(fields, "the node does not take a transaction");
      else logger.debug(fields, "the node answered a broadcast with an error");
    }
    crashPoint("relayer:broadcast");
    await database.write((trx) => markSent(trx, attemptId, now()));
    crashPoint("relayer:sent");
    signals.blocks.notify();
    return answer;
  }
}
