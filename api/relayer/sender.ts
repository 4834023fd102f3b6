import { formatEther } from "ethers";
import type { Logger } from "pino";

import { crashPoint } from "../shared/crash-point.ts";
import type { Signals } from "../shared/signal.ts";
import { recordBatch } from "../store/sending/batches.ts";
import { type ClaimedRequest, claimRequests, failClaims, returnClaims } from "../store/sending/claims.ts";
import type { Database } from "../store/db/database.ts";
import { AT_ONCE } from "../store/db/due.ts";
import { type Lease, readLane } from "../store/sending/lanes.ts";
import { batchSize } from "./batch-size.ts";
import { type BatchContext, buildBatch, type BuiltBatch, type RejectedItem } from "./build-batch.ts";
import { checkCanSend } from "./can-send.ts";
import { MAX_TRANSACTION_GAS } from "./gas.ts";
import type { InFlight } from "./in-flight.ts";
import { createNumbers } from "./numbers.ts";
import { signBatch } from "./sign.ts";

/** Requests in one transaction at most. */
export const MAX_BATCH = 250;
/** A lane that cannot pay for so many batches like its last one is said to be low on funds. */
const FUNDS_FOR_BATCHES = 20n;

export interface SenderDeps extends BatchContext {
  database: Database;
  signals: Signals;
  logger: Logger;
  now: () => number;
  /** Most to be paid for a unit of gas, in wei. */
  maxFeePerGas: bigint;
}

/** Makes one transaction of many requests: claims them, gives them numbers, signs, commits, and only then broadcasts. */
export class Sender {
  readonly #deps: SenderDeps;
  readonly #inFlight: InFlight;
  readonly #nextNumber = createNumbers();
  #low = false;

  constructor(deps: SenderDeps, inFlight: InFlight) {
    this.#deps = deps;
    this.#inFlight = inFlight;
  }

  /** Sends what is ready, as far as one transaction goes. @returns false when nothing was there to send. */
  async send(lease: Lease): Promise<boolean> {
    const { database, client, keyring, chainId, contracts, logger, signals, now } = this.#deps;
    const { key, address } = keyring.lane(lease.lane);
    const { fees, funds } = await checkCanSend(this.#deps, address);
    const block = await client.latestBlock();
    const claimed = await database.write((trx) =>
      claimRequests(trx, lease, { limit: MAX_BATCH, now: now(), nextNumber: this.#nextNumber }),
    );
    if (claimed.length === 0) return false;
    crashPoint("relayer:claimed");
    const budget = Math.min(MAX_TRANSACTION_GAS, Number(block.gasLimit));
    const batch = await this.#build(claimed, budget, block.number);
    if (batch.rejected.length > 0) await this.#fail(lease, batch.rejected);
    if (batch.requests.length === 0) {
      await database.write((trx) =>
        returnClaims(
          trx,
          batch.left.map((request) => request.id),
          AT_ONCE,
        ),
      );
      return true;
    }
    const row = await readLane(database.read, lease.lane);
    if (row === undefined) throw new Error("the lane has no row");
    const attempt = signBatch(key, {
      chainId,
      nonce: row.next_nonce,
      to: contracts.relay,
      data: batch.data,
      gasLimit: batch.gasLimit,
      fees,
      authorizations: batch.authorizations,
    });
    this.#watchFunds(address, funds, attempt.gasLimit * attempt.maxFeePerGas);
    crashPoint("relayer:signed");
    const { attemptId } = await database.write(async (trx) => {
      await returnClaims(
        trx,
        batch.left.map((request) => request.id),
        AT_ONCE,
      );
      return recordBatch(trx, lease, { nonce: row.next_nonce, requests: batch.requests, attempt }, now());
    });
    logger.info(
      {
        hash: attempt.hash,
        nonce: row.next_nonce,
        requests: batch.requests.length,
        gasLimit: attempt.gasLimit.toString(),
      },
      "batch committed",
    );
    crashPoint("relayer:committed");
    await this.#inFlight.broadcast(attemptId, attempt);
    signals.deliveries.notify();
    return true;
  }

  async #fail(lease: Lease, rejected: RejectedItem[]): Promise<void> {
    const { database, logger, signals, now } = this.#deps;
    await database.write((trx) => failClaims(trx, lease, rejected, now()));
    for (const { request, errors, cause } of rejected) {
      if (cause === null) logger.info({ request: request.id, errors }, "a request would fail on chain: not sent");
      else logger.error({ request: request.id, err: cause }, "no call can be made of a request");
    }
    signals.deliveries.notify();
  }

  /** A request that was in batches which the chain refused whole is tried with ever fewer neighbours. */
  async #build(claimed: ClaimedRequest[], budget: number, block: number): Promise<BuiltBatch> {
    const most = batchSize(
      claimed.map((request) => request.returns),
      MAX_BATCH,
    );
    const batch = await buildBatch(this.#deps, claimed.slice(0, most), budget, block);
    return { ...batch, left: [...batch.left, ...claimed.slice(most)] };
  }

  /** Says it before the lane runs dry, once for each time that it gets there. */
  #watchFunds(address: string, funds: bigint, cost: bigint): void {
    const low = funds < cost * FUNDS_FOR_BATCHES;
    if (low && !this.#low) this.#deps.logger.warn({ address, funds: formatEther(funds) }, "the lane is low on funds");
    this.#low = low;
  }
}
