import { randomBytes } from "node:crypto";

import { formatEther } from "ethers";
import type { Logger } from "pino";

import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import { type Condition, isLowOnFunds, usualBatchCost } from "../domain/conditions.ts";
import { MAX_BATCH } from "../domain/request.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { isolate, logParked } from "../shared/isolate.ts";
import type { Metrics } from "../shared/metrics.ts";
import type { Signals } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import { AT_ONCE } from "../store/db/due.ts";
import { DatabaseError } from "../store/db/errors.ts";
import { isOutage, parkRows } from "../store/db/parked-rows.ts";
import type { Trx } from "../store/db/sql.ts";
import { finalChanges, type NumberedRequest, type StoredRequest } from "../store/requests/requests.ts";
import {
  NonceTaken,
  type OpenBatch,
  recordBatch,
  type RecordedBatch,
  type SignedAttempt,
} from "../store/sending/batches.ts";
import {
  claimRequests,
  type Claims,
  failClaims,
  parkClaims,
  readyRequests,
  returnClaims,
} from "../store/sending/claims.ts";
import { type Lease, readLane } from "../store/sending/lanes.ts";
import { recentBatchGas } from "../store/sending/spent.ts";
import {
  type BatchContext,
  type Budget,
  buildBatch,
  type BuiltBatch,
  type HeldRequest,
  type RejectedItem,
} from "./build-batch.ts";
import { CannotSend, type CanSend, checkCanSend, type Fees } from "./can-send.ts";
import type { InFlight } from "./in-flight.ts";
import { affordableGas, affordsFlight, type Cost, fillsBlocks, LEAST_IN_FLIGHT, mayAddToFlight } from "./pace.ts";
import { signBatch } from "./sign.ts";

/** How many more requests than the last batch are claimed when gas limited that batch. */
const GROWTH = 1.05;
/** The node's code for a call whose parameters are not valid. */
const INVALID_PARAMETERS = -32_602;
/** How long a request waits that cannot be sent because of what a node names. In milliseconds. */
const HELD_WAIT = { first: 2_000, longest: 60_000 };
/** Milliseconds for which the funds of a lane are not read again after it could not pay for one more transaction. */
const SHORT_WAIT = 1_000;

export interface SenderDeps extends BatchContext {
  database: Database;
  signals: Signals;
  logger: Logger;
  metrics: Pick<Metrics, "requests" | "batch" | "step">;
  now: () => number;
  /** Highest price per unit of gas that the operator accepts, in wei. */
  maxFeePerGas: bigint;
}

/** What else of the lane is in flight. */
interface Flight {
  open: readonly Cost[];
  /** See `Budget`. */
  fill: number | null;
}

/** Requests for one transaction, without those that failed when they were tried before. */
interface ClaimedPart {
  part: readonly NumberedRequest[];
  rejected: Set<NumberedRequest>;
}

/** A signed transaction that is committed. */
interface CommittedBatch extends RecordedBatch {
  attempt: SignedAttempt & { nonce: number };
  size: number;
}

/**
 * Whether an error says nothing about the requests of a batch. An error about invalid parameters does: they come from the
 * requests.
 */
function concernsNoRequest(error: unknown): boolean {
  if (error instanceof RpcError) return error.code !== INVALID_PARAMETERS;
  // The node that takes a batch over from another may say that nothing can be sent.
  if (error instanceof CannotSend) return true;
  return isOutage(error) || error instanceof ChainUnavailable || error instanceof NonceTaken;
}

/** Returns the claimed requests that the batch does not carry. */
async function returnUnsent(trx: Trx, lease: Lease, { left, deferred, held }: BuiltBatch, now: number): Promise<void> {
  const waiting = held.map(({ request: { id }, reason: error, waitingFor }) => ({ id, error, waitingFor }));
  await parkClaims(trx, lease, waiting, now, HELD_WAIT);
  await returnClaims(
    trx,
    lease,
    left.map(({ id }) => id),
    AT_ONCE,
  );
  for (const [retryIn, requests] of Map.groupBy(deferred, (one) => one.retryIn)) {
    await returnClaims(
      trx,
      lease,
      requests.map(({ request }) => request.id),
      now + retryIn,
      "simulation",
    );
  }
}

/** Puts many requests into one transaction: claims and numbers them, signs, commits, and only then broadcasts. */
export class BatchSender {
  readonly #deps: SenderDeps;
  readonly #inFlight: InFlight;
  readonly #nextNumber = createNumbers();
  #low = false;
  #prepared: Promise<CanSend> | null = null;
  /** The gas limit of the newest block that was seen; null: none was seen yet. */
  #blockGas: number | null = null;
  /** Until then (monotonic clock) the lane cannot pay for more transactions than it always may have in flight. */
  #shortUntil = 0;
  /** Requests that the next claim takes. Those beyond what fits into a transaction are returned, and each costs two writes. */
  #claimSize = MAX_BATCH;

  constructor(deps: SenderDeps, inFlight: InFlight) {
    this.#deps = deps;
    this.#inFlight = inFlight;
  }

  /**
   * Whether one more transaction may wait for its block.
   * @param open the lane's transactions in flight. @param lanes how many lanes share the blocks.
   */
  hasRoom(open: readonly OpenBatch[], lanes: number): boolean {
    if (!mayAddToFlight(open, this.#blockGas, lanes)) return false;
    return open.length < LEAST_IN_FLIGHT || performance.now() >= this.#shortUntil;
  }

  /** How many requests fill a transaction, as far as the last one shows. */
  get largestBatch(): number {
    return this.#claimSize;
  }

  /** Asks the node what `send` must know, while the lane still waits for more requests. */
  prepare(lane: number): void {
    this.#prepared = checkCanSend(this.#deps, this.#deps.keyring.lane(lane).address);
    // `send` reports a failure.
    this.#prepared.catch(() => undefined);
  }

  /**
   * Sends ready requests in one transaction.
   * @param open the lane's transactions in flight. @param lanes how many lanes share the blocks.
   * @returns false when no request was ready, or when the lane cannot pay for one more transaction at the same time.
   */
  async send(lease: Lease, open: readonly OpenBatch[], lanes: number): Promise<boolean> {
    const { keyring, metrics } = this.#deps;
    const { address } = keyring.lane(lease.lane);
    const checked = this.#prepared ?? checkCanSend(this.#deps, address);
    this.#prepared = null;
    const able = await checked;
    const blockGas = Number(able.block.gasLimit);
    this.#blockGas = blockGas;
    if (!affordsFlight(open, able.funds, { gas: this.#gasBudget(), fees: able.fees })) {
      this.#shortUntil = performance.now() + SHORT_WAIT;
      return false;
    }
    const limit = this.#claimSize;
    const { claimed, parked } = await this.#claim(lease, limit);
    if (claimed.length === 0) return parked.length > 0;
    const ids = claimed.map(({ id }) => id);
    // More requests may wait than were claimed.
    const fills = claimed.length === limit && fillsBlocks(open, blockGas, lanes);
    await metrics.step("batch", ids, () =>
      this.#sendClaimed(lease, claimed, able, { open, fill: fills ? blockGas : null }),
    );
    return true;
  }

  async #claim(lease: Lease, limit: number): Promise<Claims> {
    const { database, logger, now } = this.#deps;
    const claims: Claims = { claimed: [], parked: [] };
    const claim = async (only?: readonly string[]) => {
      const options = { limit, now: now(), nextNumber: this.#nextNumber, only };
      const { claimed, parked } = await database.write((trx) => claimRequests(trx, lease, options));
      claims.claimed.push(...claimed);
      claims.parked.push(...parked);
    };
    try {
      await claim();
    } catch (error) {
      if (concernsNoRequest(error)) throw error;
      // The database refuses to change some of them. For these, only `parked_rows` is written.
      const failed = await isolate(await readyRequests(database.read, now(), limit), claim, concernsNoRequest);
      const rows = failed.map(({ row: id, error: cause }) => ({ id, error: cause }));
      claims.parked.push(...(await database.write((trx) => parkRows(trx, "request", rows, now()))));
    }
    logParked(logger, "request", claims.parked);
    if (claims.claimed.length > 0) crashPoint("relayer:claimed");
    return claims;
  }

  /** The highest gas limit of a transaction. */
  #gasBudget(): number {
    return Math.min(this.#deps.gas.current.transactionGas, this.#blockGas ?? Infinity);
  }

  /** If no transaction can be made of the requests, smaller ones are made without the request that is the cause. It is parked. */
  async #sendClaimed(
    lease: Lease,
    claimed: readonly NumberedRequest[],
    able: CanSend,
    { open, fill }: Flight,
  ): Promise<void> {
    const { database, logger, metrics, signals, now } = this.#deps;
    const rejected = new Set<NumberedRequest>();
    const batches: CommittedBatch[] = [];
    const commit = async (part: readonly NumberedRequest[]) => {
      const flight = { open: [...open, ...batches.map(({ attempt }) => ({ attempts: [attempt] }))], fill };
      const batch = await this.#commitOfNode(lease, { part, rejected }, able, flight);
      if (batch !== null) batches.push(batch);
    };
    const failed = await isolate(claimed, commit, concernsNoRequest);
    for (const { attempt, attemptId, size, sent } of batches) {
      crashPoint("relayer:committed");
      this.#count(size, sent);
      await metrics.step("broadcast", [], () => this.#inFlight.broadcast(attemptId, attempt));
      signals.deliveries.notify();
    }
    const rows = failed.map(({ row: { id }, error }) => ({ id, error }));
    logParked(logger, "request", await database.write((trx) => parkClaims(trx, lease, rows, now())));
  }

  /** A batch is built from the answers of one node. When it fails, the batch is built again from those of the next one. */
  async #commitOfNode(
    lease: Lease,
    claimed: ClaimedPart,
    able: CanSend,
    flight: Flight,
  ): Promise<CommittedBatch | null> {
    const { client, keyring } = this.#deps;
    let current = able;
    for (let left = client.nodes.count - 1; ; left -= 1) {
      try {
        return await client.nodes.within(current.node, () => this.#commit(lease, claimed, current, flight));
      } catch (error) {
        if (left === 0 || !client.nodes.canMoveOn(error)) throw error;
      }
      current = await checkCanSend(this.#deps, keyring.lane(lease.lane).address);
    }
  }

  /**
   * Builds, signs and commits a batch. When it throws, no transaction is stored.
   * @returns null when no request is left to be sent.
   */
  async #commit(
    lease: Lease,
    { part, rejected }: ClaimedPart,
    { fees, funds, block }: CanSend,
    { open, fill }: Flight,
  ): Promise<CommittedBatch | null> {
    const { database, keyring, chainId, contracts, logger, metrics, now } = this.#deps;
    const { key, address } = keyring.lane(lease.lane);
    // Another node may have taken over.
    this.#blockGas = Number(block.gasLimit);
    const budget = {
      gas: this.#gasBudget(),
      affordable: affordableGas(open, funds, fees),
      items: MAX_BATCH,
      fill,
    };
    const left = part.filter((request) => !rejected.has(request));
    const batch = await metrics.step("build", [], () => this.#build(left, budget, block.number));
    this.#logHeld(batch.held);
    if (batch.rejected.length > 0) await this.#fail(lease, batch.rejected);
    for (const { request } of batch.rejected) rejected.add(request);
    if (batch.requests.length === 0) {
      await database.write((trx) => returnUnsent(trx, lease, batch, now()));
      return null;
    }
    const row = await readLane(database.read, lease.lane);
    if (row === undefined) throw new DatabaseError(`lane ${lease.lane.toString()} has no row in the database`);
    const attempt = signBatch(key, {
      chainId,
      nonce: row.next_nonce,
      to: contracts.relay,
      data: batch.data,
      gasLimit: batch.gasLimit,
      fees,
      authorizations: batch.authorizations,
    });
    await this.#watchFunds(address, funds, fees);
    crashPoint("relayer:signed");
    const recorded = await database.write(async (trx) => {
      await returnUnsent(trx, lease, batch, now());
      return recordBatch(trx, lease, { ...batch, nonce: row.next_nonce, attempt }, now());
    });
    const size = batch.requests.length;
    logger.info(
      { hash: attempt.hash, nonce: row.next_nonce, requests: size, gasLimit: attempt.gasLimit.toString() },
      "batch committed",
    );
    return { ...recorded, attempt: { ...attempt, nonce: row.next_nonce }, size };
  }

  #logHeld(held: readonly HeldRequest[]): void {
    const [first] = held;
    if (first === undefined) return;
    this.#deps.logger.warn(
      { condition: "row_parked" satisfies Condition, requests: held.length, first: first.request.id },
      `requests wait because of what a node names, and the others go on. The first: ${first.reason}`,
    );
  }

  #count(items: number, sent: readonly StoredRequest[]): void {
    const { metrics, now } = this.#deps;
    metrics.batch(items);
    metrics.requests(
      sent.map(({ id, type, created_at: acceptedAt }) => ({
        id,
        type,
        status: "processing",
        errorCode: null,
        seconds: (now() - acceptedAt) / 1_000,
      })),
    );
  }

  async #fail(lease: Lease, rejected: RejectedItem[]): Promise<void> {
    const { database, logger, signals, now, metrics } = this.#deps;
    const failed = await database.write((trx) => failClaims(trx, lease, rejected, now()));
    metrics.requests(finalChanges(failed, now()));
    for (const { request, errors, cause } of rejected) {
      // Its earlier transaction may still run it: only the chain may end it.
      if (request.status !== "pending")
        logger.warn(
          { request: request.id, errors, ...(cause === null ? {} : { err: cause }) },
          "a request that was signed before cannot be signed again now: it waits for its earlier transaction, and is checked again in ten minutes",
        );
      else if (cause === null)
        logger.info(
          { request: request.id, errors },
          "a request failed before sending: it would fail on chain, or no transaction has room for it",
        );
      else
        logger.error(
          { request: request.id, err: cause },
          "a request failed before sending: it cannot be encoded as a contract call",
        );
    }
    signals.deliveries.notify();
  }

  /** A request whose batches reverted as a whole shares its next batch with fewer and fewer others. */
  async #build(claimed: NumberedRequest[], budget: Budget, block: number): Promise<BuiltBatch> {
    const most = batchSize(
      claimed.map((request) => request.returns),
      MAX_BATCH,
    );
    const batch = await buildBatch(this.#deps, claimed.slice(0, most), budget, block);
    const full = batch.left.length > 0;
    this.#claimSize = Math.min(MAX_BATCH, full ? Math.ceil(batch.requests.length * GROWTH) + 1 : this.#claimSize * 2);
    return { ...batch, left: [...batch.left, ...claimed.slice(most)] };
  }

  /** Warns before the lane runs out of funds, once each time that they become low. */
  async #watchFunds(address: string, funds: bigint, { maxFeePerGas }: Fees): Promise<void> {
    const { database, gas } = this.#deps;
    const recentGas = await recentBatchGas(database.read);
    const low = isLowOnFunds(funds, usualBatchCost(recentGas, gas.current, maxFeePerGas));
    if (low && !this.#low)
      this.#deps.logger.warn(
        { condition: "low_funds" satisfies Condition, address, funds: formatEther(funds) },
        "the lane is low on funds: send it the chain's own currency",
      );
    this.#low = low;
  }
}

/** Bits of the counter inside one epoch. Numbers are dense because the relay keeps 256 of them in one storage slot. */
const COUNTER_BITS = 32n;

/**
 * Draws request numbers: 64 random bits that this lane's process chooses at start, then a counter. So no other process, and
 * no database restored from a backup, draws the same number again.
 */
export function createNumbers(): () => bigint {
  const newEpoch = () => randomBytes(8).readBigUInt64BE() << COUNTER_BITS;
  let epoch = newEpoch();
  let counter = 0n;
  return () => {
    if (counter >> COUNTER_BITS !== 0n) {
      epoch = newEpoch();
      counter = 0n;
    }
    return epoch | counter++;
  };
}

/**
 * How many of the claimed requests, from the first, may share a transaction. Each time a whole batch reverted, its requests
 * halve the size of their next batch. Requests in front of them are not delayed.
 * @param returns how often each request was in a batch that reverted, in order.
 */
export function batchSize(returns: number[], most: number): number {
  let size = 0;
  let worst = 0;
  for (const count of returns) {
    worst = Math.max(worst, count);
    if (size + 1 > Math.max(1, most / 2 ** worst)) break;
    size += 1;
  }
  return size;
}
