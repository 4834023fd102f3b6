import type { Logger } from "pino";

import { type BroadcastAnswer, classifyBroadcast } from "../chain/broadcast-errors.ts";
import type { ChainClient } from "../chain/client.ts";
import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import { type Condition, LANE_STUCK } from "../domain/conditions.ts";
import type { Keyring } from "../keys/keyring.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { Signals } from "../shared/signal.ts";
import {
  markSent,
  type OpenBatch,
  recordAttempt,
  type SignedAttempt,
  type StoredAttempt,
} from "../store/sending/batches.ts";
import type { Database } from "../store/db/database.ts";
import { isDue } from "../store/db/due.ts";
import type { Lease } from "../store/sending/lanes.ts";
import { currentFees, FeesTooHigh, replacementFees } from "./fees.ts";
import type { GasMeter } from "./gas-meter.ts";
import { type Fees, signEmpty, signReplacement } from "./sign.ts";

/** Attempts of a batch before its nonce is closed with an empty transaction. */
const ATTEMPTS_BEFORE_EMPTY = 8;
/** Wait before an underpriced attempt is replaced, in milliseconds. */
const UNDERPRICED_WAIT = 10_000;
/** Wait before fees that were too high for a replacement are read again, in milliseconds. */
const TOO_HIGH_WAIT = 10_000;
/** Answers that an operator must see. */
const NEEDS_OPERATOR: ReadonlySet<BroadcastAnswer> = new Set(["no-funds", "refused"]);

/** In milliseconds. */
export interface ResendPolicy {
  /** An unmined transaction is broadcast again after this time. */
  rebroadcastAfter: number;
  /** An unmined transaction is replaced with a higher fee after this time. */
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
  /** What a transaction costs on the chain. */
  gas: Pick<GasMeter, "current">;
  /** Highest price per unit of gas that the operator accepts, in wei. */
  maxFeePerGas: bigint;
}

/** A lane's signed transactions that are committed but still unmined. */
export class InFlight {
  readonly #deps: InFlightDeps;
  /** The last nonce that was logged as waiting for lower fees. */
  #waitingNonce: number | null = null;
  /** The last nonce that was logged as unmined for long. */
  #stuckNonce: number | null = null;
  /** Until then (monotonic clock) fees count as too high. */
  #tooHighUntil = 0;

  constructor(deps: InFlightDeps) {
    this.#deps = deps;
  }

  /** Broadcasts unmined batches again, and replaces those that stay unmined. */
  async watch(lease: Lease, open: OpenBatch[]): Promise<void> {
    const { now, resendPolicy } = this.#deps;
    const passed = (time: number, wait: number) => isDue(time + wait, now(), wait);
    for (const batch of open) {
      const latest = batch.attempts.at(-1);
      if (latest === undefined) throw new Error(`batch ${batch.id.toString()} has no attempt`);
      const { sentAt, raw } = latest;
      // Its bytes were pruned, so a block contains it. The indexer is about to read that block again.
      if (raw === null) continue;
      if (now() - batch.created_at > LANE_STUCK) this.#logStuck(batch);
      if (sentAt !== null && !passed(sentAt, resendPolicy.rebroadcastAfter)) continue;
      const answer = await this.broadcast(latest.id, { hash: latest.hash, raw });
      // The blocks show what used the nonce. Until they are read, another attempt is useless.
      if (sentAt === null || answer === "nonce-used") continue;
      const wait =
        answer === "underpriced" ? Math.min(UNDERPRICED_WAIT, resendPolicy.replaceAfter) : resendPolicy.replaceAfter;
      if (passed(latest.createdAt, wait)) await this.#replace(lease, batch, { ...latest, raw });
    }
  }

  /**
   * Commits and then broadcasts another attempt with the same nonce: the batch at a higher fee, or in the end an empty
   * transaction, so that a batch that no node accepts does not block the nonces behind it. While fees are above the ceiling
   * there is no new attempt.
   */
  async #replace(lease: Lease, batch: OpenBatch, latest: StoredAttempt & { raw: string }): Promise<void> {
    const { database, keyring, logger, now, resendPolicy } = this.#deps;
    // The lane runs this for every new request. Do not ask the node for fees that often.
    if (performance.now() < this.#tooHighUntil) return;
    const fees = await this.#replacementFees(latest);
    if (fees === null) {
      this.#tooHighUntil = performance.now() + Math.min(TOO_HIGH_WAIT, resendPolicy.replaceAfter);
      this.#logTooHigh(batch.nonce);
      return;
    }
    const { key, address } = keyring.lane(lease.lane);
    const empty = batch.attempts.length >= ATTEMPTS_BEFORE_EMPTY;
    const attempt = empty
      ? signEmpty(key, address, latest.raw, fees, this.#deps.gas.current.floor.base)
      : signReplacement(key, latest.raw, fees);
    const attemptId = await database.write((trx) => recordAttempt(trx, lease, batch.id, attempt, now()));
    // One of the attempts was mined meanwhile.
    if (attemptId === null) return;
    logger.warn(
      { nonce: batch.nonce, replaces: latest.hash, hash: attempt.hash, empty },
      "an unmined transaction was replaced with a higher fee",
    );
    await this.broadcast(attemptId, attempt);
  }

  async #replacementFees(previous: Fees): Promise<Fees | null> {
    const { client, maxFeePerGas } = this.#deps;
    try {
      const { fees } = await currentFees(client, maxFeePerGas);
      return replacementFees(previous, fees, maxFeePerGas);
    } catch (error) {
      if (error instanceof FeesTooHigh) return null;
      throw error;
    }
  }

  /** Logs once for each nonce. */
  #logStuck({ nonce, attempts }: OpenBatch): void {
    if (nonce === this.#stuckNonce) return;
    this.#stuckNonce = nonce;
    this.#deps.logger.warn(
      { condition: "lane_stuck" satisfies Condition, nonce, hash: attempts.at(-1)?.hash },
      "no block has contained a transaction of the lane for more than five minutes: check that the node passes transactions on, and MAX_FEE_GWEI",
    );
  }

  /** Logs once for each nonce. */
  #logTooHigh(nonce: number): void {
    if (nonce === this.#waitingNonce) return;
    this.#waitingNonce = nonce;
    this.#deps.logger.error(
      { nonce },
      "an unmined transaction needs a fee above MAX_FEE_GWEI: wait for lower fees or raise the setting",
    );
  }

  /**
   * Sends signed bytes to the node. They may reach the network whatever the node answers: only blocks show it.
   * @returns the node's error, or null.
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
      if (NEEDS_OPERATOR.has(answer))
        logger.error(fields, "the node refused a transaction: see err, and check the lane's funds and the node");
      else logger.debug(fields, "the node answered a broadcast with an error; it is sent again");
    }
    crashPoint("relayer:broadcast");
    // A block may contain the transaction already, so the indexer looks before this is stored.
    signals.blocks.notify();
    await database.write((trx) => markSent(trx, attemptId, now()));
    crashPoint("relayer:sent");
    return answer;
  }
}
