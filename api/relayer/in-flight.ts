import { ChainUnavailable, classifyBroadcast, RpcError } from "../chain/errors.ts";
import { isEmpty } from "../chain/transaction.ts";
import { type BroadcastAnswer, isRefusal, type Refusal } from "../domain/broadcast-answer.ts";
import { type Condition, LANE_STUCK } from "../domain/conditions.ts";
import type { StoredReason } from "../domain/waiting-for.ts";
import { type Fees, min, replacementFees } from "../domain/wei.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { markSent, type OpenBatch, recordAttempt, type StoredAttempt } from "../store/sending/batches.ts";
import { isDue } from "../store/db/due.ts";
import type { Lease } from "../store/sending/lanes.ts";
import { CannotSend, feesOfReplacement } from "./can-send.ts";
import type { RelayerContext } from "./context.ts";
import { signEmpty, signReplacement } from "./sign.ts";

/** Attempts of a batch before its nonce is closed with an empty transaction. */
const ATTEMPTS_BEFORE_EMPTY = 8;
/** Wait before an underpriced attempt is replaced, in milliseconds. */
const UNDERPRICED_WAIT = 10_000;
/** Wait before fees that were too high for a replacement are read again, in milliseconds. */
const TOO_HIGH_WAIT = 10_000;
/** How often the same calls are signed again with another gas limit before the nonce is closed. */
const MOST_CORRECTIONS = 2;
/** By how much a gas limit that the node calls too low is raised. */
const RAISE = 1.5;

/** What an operator must read in the log about an answer, and what the service does. */
const REPORTED: Partial<Record<BroadcastAnswer, string>> = {
  "no-funds":
    "the node refused a transaction, because the lane cannot pay for it: send the lane the chain's own currency",
  "gas-too-low":
    "the node refused a transaction, because its gas limit is too low: the same calls are signed again with a higher limit",
  "gas-too-high":
    "the node refused a transaction, because its gas limit is too high: the same calls are signed again with a lower limit",
  refused:
    "the node refused a transaction and will not accept it later: an empty transaction closes its nonce, and its requests are sent in smaller batches",
  unknown:
    "the node refused a transaction with an error that is not known: the service tries again for some minutes, then it closes the nonce and sends the requests in smaller batches",
};

/** Signed bytes that are committed. */
interface Committed {
  attemptId: number;
  nonce: number;
  hash: string;
  raw: string;
}

/** What is logged once about a nonce: an answer to a broadcast, or one of these. */
type News = BroadcastAnswer | "stuck" | "fees-too-high";

/** A lane's signed transactions that are committed but still unmined. */
export class InFlight {
  readonly #context: RelayerContext;
  /** By open nonce, what was logged about it: it is not logged again. */
  readonly #logged = new Map<number, Set<News>>();
  /** Until then (monotonic clock) fees count as too high. */
  #tooHighUntil = 0;

  constructor(context: RelayerContext) {
    this.#context = context;
  }

  /** What keeps transactions in flight from a block, as far as the nodes said so; null: nothing. */
  reasonFor(open: readonly OpenBatch[]): StoredReason | null {
    if (open.length > 0 && performance.now() < this.#tooHighUntil) return "fees_too_high";
    const answers = open.map(({ attempts }) => attempts.findLast(({ answer }) => answer !== null)?.answer);
    if (answers.includes("no-funds")) return "low_funds";
    return answers.includes("no-answer") ? "node_unavailable" : null;
  }

  /** Broadcasts unmined batches again, and replaces those that stay unmined, or that the node refuses. */
  async watch(lease: Lease, open: OpenBatch[]): Promise<void> {
    const { logger, now, rebroadcastAfter, replaceAfter } = this.#context;
    const passed = (time: number, wait: number) => isDue(time + wait, now(), wait);
    const nonces = new Set(open.map(({ nonce }) => nonce));
    for (const nonce of this.#logged.keys()) if (!nonces.has(nonce)) this.#logged.delete(nonce);
    for (const batch of open) {
      const latest = batch.attempts.at(-1);
      if (latest === undefined) throw new Error(`batch ${batch.id.toString()} has no attempt`);
      const { sentAt, raw } = latest;
      // Its bytes were pruned, so a block contains it. The indexer is about to read that block again.
      if (raw === null) continue;
      if (now() - batch.created_at > LANE_STUCK && this.#isNews(batch.nonce, "stuck"))
        logger.warn(
          { condition: "lane_stuck" satisfies Condition, nonce: batch.nonce, hash: latest.hash },
          "no block has contained a transaction of the lane for more than five minutes: check that the node passes transactions on, and MAX_FEE_GWEI",
        );
      const due = sentAt === null || passed(sentAt, rebroadcastAfter);
      if (!due && !isRefusal(latest.answer)) continue;
      const answer = due
        ? await this.send({ attemptId: latest.id, nonce: batch.nonce, hash: latest.hash, raw })
        : latest.answer;
      // Waiting does not resolve a refusal. But a refused empty transaction can only wait: there is no smaller one.
      if (isRefusal(answer) && !isEmpty(raw)) {
        await this.#replace(lease, batch, { ...latest, raw }, answer);
        continue;
      }
      // The blocks show what used the nonce. Until they are read, another attempt is useless.
      if (sentAt === null || !due || answer === "nonce-used") continue;
      const wait = answer === "underpriced" ? Math.min(UNDERPRICED_WAIT, replaceAfter) : replaceAfter;
      if (passed(latest.createdAt, wait)) await this.#replace(lease, batch, { ...latest, raw }, null);
    }
  }

  /**
   * Commits and then broadcasts another attempt with the same nonce: the same calls at a higher fee or with another gas limit,
   * or an empty transaction, so that a batch that no node accepts does not block the nonces behind it. The nonce never gets other
   * requests: a node that was not asked may still have an earlier attempt. While fees are above the ceiling there is no new
   * attempt.
   * @param refusal the node's answer if waiting does not resolve it; null: the transaction is only unmined.
   */
  async #replace(
    lease: Lease,
    batch: OpenBatch,
    latest: StoredAttempt & { raw: string },
    refusal: Refusal | null,
  ): Promise<void> {
    const { database, keyring, logger, now, replaceAfter, gas } = this.#context;
    // The lane runs this for every new request. Do not ask the node for fees that often.
    if (performance.now() < this.#tooHighUntil) return;
    const found = await this.#replacementFees(latest);
    if (found === null) {
      this.#tooHighUntil = performance.now() + Math.min(TOO_HIGH_WAIT, replaceAfter);
      if (this.#isNews(batch.nonce, "fees-too-high"))
        logger.error(
          { nonce: batch.nonce },
          "an unmined transaction needs a fee above MAX_FEE_GWEI: wait for lower fees or raise the setting",
        );
      return;
    }
    const { fees, blockGas } = found;
    const { key, address } = keyring.lane(lease.lane);
    const gasLimit = refusal === null ? latest.gasLimit : this.#correctedLimit(batch, latest, refusal, blockGas);
    const empty = gasLimit === null || batch.attempts.length >= ATTEMPTS_BEFORE_EMPTY;
    const attempt = empty
      ? signEmpty(key, address, latest.raw, fees, gas.current.floor.base)
      : signReplacement(key, latest.raw, fees, gasLimit);
    const attemptId = await database.write((trx) => recordAttempt(trx, lease, batch.id, attempt, now()));
    // One of the attempts was mined meanwhile.
    if (attemptId === null) return;
    logger.warn(
      { nonce: batch.nonce, replaces: latest.hash, hash: attempt.hash, empty, gasLimit: attempt.gasLimit.toString() },
      refusal === null
        ? "an unmined transaction was replaced with a higher fee"
        : "a transaction that the node refused was replaced",
    );
    await this.send({ ...attempt, attemptId, nonce: batch.nonce });
  }

  /**
   * Another gas limit for the same calls. With less gas than they need, the relay stops before the next call, and the rest runs
   * in another batch.
   * @returns null when there is none: the nonce must be closed.
   */
  #correctedLimit(batch: OpenBatch, latest: StoredAttempt, refusal: Refusal, blockGas: bigint): bigint | null {
    const corrected = batch.attempts.filter(({ gasLimit }, index) => gasLimit !== batch.attempts[index - 1]?.gasLimit);
    if (refusal === "refused" || corrected.length > MOST_CORRECTIONS) return null;
    const most = min(BigInt(this.#context.gas.current.transactionGas), blockGas);
    if (refusal === "gas-too-low") {
      const raised = BigInt(Math.ceil(Number(latest.gasLimit) * RAISE));
      return latest.gasLimit < most ? min(raised, most) : null;
    }
    // The node has a lower limit than its blocks show.
    return latest.gasLimit > most ? most : latest.gasLimit / 2n;
  }

  async #replacementFees(previous: Fees): Promise<{ fees: Fees; blockGas: bigint } | null> {
    const { client, maxFeePerGas } = this.#context;
    try {
      const { fees: current, block } = await feesOfReplacement(client, maxFeePerGas);
      const fees = replacementFees(previous, current, maxFeePerGas);
      return fees === null ? null : { fees, blockGas: block.gasLimit };
    } catch (error) {
      if (error instanceof CannotSend && error.code === "fees_too_high") return null;
      throw error;
    }
  }

  /** Whether this is to be logged about a nonce now: the first time. */
  #isNews(nonce: number, what: News): boolean {
    const logged = this.#logged.get(nonce) ?? new Set();
    if (logged.has(what)) return false;
    this.#logged.set(nonce, logged.add(what));
    return true;
  }

  /**
   * Broadcasts signed bytes, and marks them as sent. They may reach the network whatever the node answers: only blocks show it.
   * @returns the node's answer. It is stored with the attempt.
   */
  async send({ attemptId, nonce, hash, raw }: Committed): Promise<BroadcastAnswer> {
    const { client, database, signals, now } = this.#context;
    let answer: BroadcastAnswer = "accepted";
    try {
      await client.broadcast(raw);
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof ChainUnavailable)) throw error;
      answer = classifyBroadcast(error);
      this.#report({ hash, nonce, answer, err: error });
    }
    crashPoint("relayer:broadcast");
    // A block may contain the transaction already, so the indexer looks before the answer is stored.
    signals.blocks.notify();
    await database.write((trx) => markSent(trx, attemptId, answer, now()));
    crashPoint("relayer:sent");
    return answer;
  }

  /** Logs an answer that an operator must see when it first comes for a nonce, not each time that the transaction is sent again. */
  #report(fields: { hash: string; nonce: number; answer: BroadcastAnswer; err: unknown }): void {
    const { logger } = this.#context;
    const words = REPORTED[fields.answer];
    if (words !== undefined && this.#isNews(fields.nonce, fields.answer)) logger.error(fields, words);
    else logger.debug(fields, "the node answered a broadcast with an error; it is sent again");
  }
}
