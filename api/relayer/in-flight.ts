import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import type { Keyring } from "../keys/keyring.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { Signals } from "../shared/signal.ts";
import { markSent, type OpenBatch, recordAttempt, type SignedAttempt } from "../store/batches.ts";
import type { Database } from "../store/database.ts";
import { isDue } from "../store/due.ts";
import type { Lease } from "../store/lanes.ts";
import { currentFees, replacementFees } from "./fees.ts";
import { signReplacement } from "./sign.ts";

/** In milliseconds. */
export interface Patience {
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
  patience: Patience;
}

/** A lane's transactions that are signed and committed, until a block takes them. */
export class InFlight {
  readonly #deps: InFlightDeps;

  constructor(deps: InFlightDeps) {
    this.#deps = deps;
  }

  /** Hands open batches to the node again, and replaces those that no block takes. */
  async watch(lease: Lease, open: OpenBatch[]): Promise<void> {
    const { now, patience } = this.#deps;
    const passed = (time: number, wait: number) => isDue(time + wait, now(), wait);
    for (const batch of open) {
      const latest = batch.attempts.at(-1);
      if (latest === undefined) throw new Error(`batch ${batch.id.toString()} has no attempt`);
      if (latest.sent_at !== null && passed(latest.created_at, patience.replaceAfter)) await this.#replace(lease, batch);
      else if (latest.sent_at === null || passed(latest.sent_at, patience.rebroadcastAfter)) {
        await this.broadcast(latest.id, latest);
      }
    }
  }

  async #replace(lease: Lease, batch: OpenBatch): Promise<void> {
    const { database, client, keyring, logger, now } = this.#deps;
    const latest = batch.attempts.at(-1);
    if (latest === undefined) return;
    const previous = {
      maxFeePerGas: BigInt(latest.max_fee_per_gas),
      maxPriorityFeePerGas: BigInt(latest.max_priority_fee_per_gas),
    };
    const fees = replacementFees(previous, await currentFees(client));
    const attempt = signReplacement(keyring.lane(lease.lane).key, latest.raw, fees);
    const attemptId = await database.write((trx) => recordAttempt(trx, lease, batch.id, attempt, now()));
    logger.warn({ nonce: batch.nonce, replaces: latest.hash, hash: attempt.hash }, "batch replaced at a higher fee");
    await this.broadcast(attemptId, attempt);
  }

  /** Whatever the node answers, the bytes may have reached the network: only blocks tell. */
  async broadcast(attemptId: number, attempt: Pick<SignedAttempt, "hash" | "raw">): Promise<void> {
    const { client, database, logger, signals, now } = this.#deps;
    try {
      await client.broadcast(attempt.raw);
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof ChainUnavailable)) throw error;
      logger.debug({ hash: attempt.hash, code: error instanceof RpcError ? error.code : null, err: error }, "broadcast answered with an error");
    }
    crashPoint("relayer:broadcast");
    await database.write((trx) => markSent(trx, attemptId, now()));
    crashPoint("relayer:sent");
    signals.blocks.notify();
  }
}
