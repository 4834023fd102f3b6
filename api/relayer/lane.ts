import { formatEther } from "ethers";

import { ChainUnavailable, describeError, RpcError } from "../chain/errors.ts";
import { type Condition, isLowOnFunds, usualBatchCost } from "../domain/conditions.ts";
import { MAX_BATCH } from "../domain/request.ts";
import type { StoredReason } from "../domain/waiting-for.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { isolate, logParked } from "../shared/isolate.ts";
import { LeaseLost, whileLeased } from "../shared/lease.ts";
import { holderIsGone, newLeaseHolder } from "../shared/lease-holder.ts";
import { pause } from "../shared/pause.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import { AT_ONCE, isDue } from "../store/db/due.ts";
import { isOutage, parkRows } from "../store/db/parked-rows.ts";
import type { LaneRow } from "../store/db/schema.ts";
import type { NumberedRequest } from "../store/requests/requests.ts";
import { NonceTaken, type OpenBatch, openBatches, recordBatch, type RecordedBatch } from "../store/sending/batches.ts";
import {
  claimRequests,
  type Claims,
  countReady,
  createNumbers,
  parkClaims,
  readyRequests,
  returnAbandonedClaims,
  returnUnsent,
  type Unsent,
} from "../store/sending/claims.ts";
import {
  ensureLane,
  hasBegun,
  type Lease,
  readLane,
  releaseLease,
  renewLease,
  storeReason,
  takeLease,
} from "../store/sending/lanes.ts";
import { recentBatchGas } from "../store/sending/spent.ts";
import { buildBatch } from "./build-batch.ts";
import { CannotSend, type CanSend, checkCanSend, checkDatabaseIsNewest, reasonOf } from "./can-send.ts";
import type { RelayerContext } from "./context.ts";
import { InFlight } from "./in-flight.ts";
import {
  affordableGas,
  affordsAnother,
  fillsBlocks,
  LEAST_IN_FLIGHT,
  mayAddToFlight,
  pauseBeforePartial,
} from "./pace.ts";
import { reportCommit, reportUnsent } from "./report.ts";
import { signBatch } from "./sign.ts";

/**
 * How often a lane looks for work that another process has stored. In milliseconds, like all times here. Signals come only
 * from the own process, so a lane that has just sent something looks again soon, and then less and less often.
 */
const POLL = { first: 20, most: 1_000 } as const;
/**
 * While nothing is in flight, a request is sent almost at once: only calls that arrive together share its batch. The lane
 * waits this long for more of them, as long as they keep coming, and never longer than the maximum.
 */
const LINGER = { step: 4, most: 60 } as const;
/** After an error, the requests that the lane had claimed wait this long before any lane claims them again. */
const RETURN_DELAY = 2_000;
/** How long the funds of a lane are not read again after it could not pay for one more transaction. */
const SHORT_WAIT = 1_000;
/** How many more requests than the last batch are claimed when gas limited that batch. */
const GROWTH = 1.05;
/** The node's code for a call whose parameters are not valid. */
const INVALID_PARAMETERS = -32_602;

/** What the transactions of one claim have in common. */
interface Plan {
  lease: Lease;
  /** The lane's transactions in flight. */
  open: readonly OpenBatch[];
  /** What one node has said about sending. */
  asked: CanSend;
  /** The gas limit of the blocks that they fill together; null: each is as large as possible. */
  fill: number | null;
  /** Those that are committed so far. */
  committed: RecordedBatch[];
}

/**
 * One sending key and its nonces. Sends the requests that are ready and watches its transactions until they are mined.
 * Exactly one process drives a lane at a time: it holds a lease, whose fencing token guards every write that decides something.
 */
export class Lane {
  readonly #context: RelayerContext;
  readonly #index: number;
  readonly #isDraining: boolean;
  readonly #inFlight: InFlight;
  readonly #loop: WorkLoop;
  readonly #holder = newLeaseHolder();
  readonly #nextNumber = createNumbers();
  /** Requests that the next claim takes. Those beyond what fits into a transaction are returned, and each costs two writes. */
  #claimSize = MAX_BATCH;
  /** The gas limit of the newest block that was seen; null: none was seen yet. */
  #blockGas: number | null = null;
  /** Until then (monotonic clock) the lane cannot pay for more transactions than `LEAST_IN_FLIGHT`. */
  #shortUntil = 0;
  #isLow = false;
  /** What keeps the lane from sending, as this holder of the lease has stored it. Null: nothing keeps it. */
  #reason: StoredReason | null | "not stored yet" = "not stored yet";

  /** @param isDraining the settings no longer have the lane: it finishes what it began and takes no new requests. */
  constructor(context: RelayerContext, index: number, isDraining: boolean) {
    this.#context = context;
    this.#index = index;
    this.#isDraining = isDraining;
    this.#inFlight = new InFlight(context);
    this.#loop = new WorkLoop({
      logger: context.logger,
      wake: context.signals.requests,
      pollInterval: POLL.most,
      messages: { failed: "the lane cannot send; it retries", recovered: "the lane can send again" },
      describe: describeError,
      // By code where there is one: the message may contain a value that changes with every block.
      keyOf: (error) => (error instanceof CannotSend ? error.code : describeError(error)),
      fieldsOf: (error) =>
        error instanceof CannotSend && error.condition !== undefined ? { condition: error.condition } : {},
    });
  }

  /** What keeps this lane from sending. */
  get lastError(): string | null {
    return this.#loop.lastError;
  }

  /** Runs until `abort`. Errors of the node and of the database lose no request: the lane retries. */
  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run((stop) => this.#leaseAndDrive(stop), abort);
  }

  /**
   * Sends one more transaction, with the requests that are ready. Its signed bytes are recorded and committed, and only then
   * broadcast: after a crash, the next round or the next holder of the lease finds them and sends them again.
   * @param lease is held. Every write that decides something checks it.
   * @param open the lane's transactions in flight.
   * @returns milliseconds until the next round; 0: at once; null: until requests arrive.
   */
  async #round(lease: Lease, open: OpenBatch[], stop: AbortSignal): Promise<number | null> {
    const { client, database, metrics, share, now } = this.#context;

    // Watch what is in flight, and store what keeps the lane from sending.
    await this.#inFlight.watch(lease, open);
    await this.#reportReason(lease, open);

    // May one more transaction wait for its block, and are requests ready for it?
    const isShort = open.length >= LEAST_IN_FLIGHT && performance.now() < this.#shortUntil;
    if (this.#isDraining || isShort || !mayAddToFlight(open, this.#blockGas, share.lanes)) return null;
    const ready = await countReady(database.read, now(), this.#claimSize);
    if (ready === 0) return null;
    const wait = ready < this.#claimSize ? pauseBeforePartial(open, now()) : 0;
    if (wait !== 0) return wait;

    // May the lane send? The node is asked while requests gather for the same transaction.
    const [asked] = await Promise.all([
      checkCanSend(this.#context, this.#index),
      open.length === 0 ? this.#linger(ready, stop) : null,
    ]);
    this.#blockGas = asked.blockGas;
    await this.#warnOfLowFunds(asked);
    if (!affordsAnother(open, asked)) {
      this.#shortUntil = performance.now() + SHORT_WAIT;
      return null;
    }

    // Claim.
    const { claimed, parked } = await this.#claim(lease);
    if (claimed.length === 0) return parked.length > 0 ? 0 : null;
    crashPoint("relayer:claimed");
    // More requests may wait than were claimed.
    const fills = claimed.length === this.#claimSize && fillsBlocks(open, asked.blockGas, share.lanes);

    const ids = claimed.map(({ id }) => id);
    await metrics.step("batch", ids, async () => {
      // Build, sign, record and commit: nearly always one transaction. If a request makes that fail, smaller ones without it.
      const committed: RecordedBatch[] = [];
      const plan = { lease, open, asked, fill: fills ? asked.blockGas : null, committed };
      const commit = (part: readonly NumberedRequest[]) =>
        client.nodes.session(() => this.#commitTransaction(part, plan));
      const failed = await isolate(claimed, commit, concernsNoRequest);

      // Broadcast, and mark as sent.
      for (const recorded of committed) {
        crashPoint("relayer:committed");
        await metrics.step("broadcast", [], () => this.#inFlight.send(recorded));
      }
      await this.#park(lease, failed);
    });
    return 0;
  }

  /**
   * Makes one transaction of claimed requests, in a session with one node, which gives all answers that it is made from. If that
   * node fails, this runs again with the next one. So it may be built and signed twice, but it is committed once: nothing asks
   * a node after the commit, and only an error of a node makes it run again.
   */
  async #commitTransaction(
    part: readonly NumberedRequest[],
    { lease, open, asked, fill, committed }: Plan,
  ): Promise<void> {
    const { client, database, metrics, now } = this.#context;
    const able = asked.node === client.nodes.number ? asked : await checkCanSend(this.#context, this.#index);

    // Build: encode, simulate, count gas.
    const affordable = affordableGas(open, able.funds - costOf(committed), able.fees);
    const batch = await metrics.step("build", [], () => buildBatch(this.#context, part, able, { affordable, fill }));
    const next = batch.isFull ? Math.ceil(batch.requests.length * GROWTH) + 1 : this.#claimSize * 2;
    this.#claimSize = Math.min(MAX_BATCH, next);
    if (batch.requests.length === 0) return this.#returnUnsent(lease, batch.unsent);

    // Sign.
    const signed = await signBatch(this.#context, this.#index, batch, able.fees);
    crashPoint("relayer:signed");

    // Record and commit: the batch, and what becomes of the requests that it does not carry.
    const { ended, recorded } = await database.write(async (trx) => ({
      ended: await returnUnsent(trx, lease, batch.unsent, now()),
      recorded: await recordBatch(trx, lease, { ...batch, ...signed }, now()),
    }));
    committed.push(recorded);
    reportCommit(this.#context, batch, recorded, ended);
  }

  /** Stores what keeps the lane from sending. At the start it looks for that at once, not only when the first request arrives. */
  async #reportReason(lease: Lease, open: readonly OpenBatch[]): Promise<void> {
    if (this.#reason === "not stored yet" && !this.#isDraining) await checkCanSend(this.#context, this.#index);
    this.#loop.recovered();
    const reason = this.#inFlight.reasonFor(open);
    if (reason === this.#reason) return;
    await this.#context.database.write((trx) => storeReason(trx, lease, reason));
    this.#reason = reason;
  }

  /** Waits while more requests keep coming. @param ready how many are ready. */
  async #linger(ready: number, stop: AbortSignal): Promise<void> {
    const { database, now } = this.#context;
    const started = performance.now();
    let before = ready;
    while (before < this.#claimSize && performance.now() - started < LINGER.most) {
      await pause(LINGER.step, stop);
      const more = await countReady(database.read, now(), this.#claimSize);
      if (more <= before || stop.aborted) return;
      before = more;
    }
  }

  /** Warns once each time that the funds become low. */
  async #warnOfLowFunds({ funds, fees }: CanSend): Promise<void> {
    const { database, gas, logger, keyring } = this.#context;
    const recentGas = await recentBatchGas(database.read);
    const isLow = isLowOnFunds(funds, usualBatchCost(recentGas, gas.current, fees.maxFeePerGas));
    if (isLow && !this.#isLow)
      logger.warn(
        {
          condition: "low_funds" satisfies Condition,
          address: keyring.lane(this.#index).address,
          funds: formatEther(funds),
        },
        "the lane is low on funds: send it the chain's own currency",
      );
    this.#isLow = isLow;
  }

  async #claim(lease: Lease): Promise<Claims> {
    const { database, logger, now } = this.#context;
    const limit = this.#claimSize;
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
    return claims;
  }

  async #returnUnsent(lease: Lease, unsent: readonly Unsent[]): Promise<void> {
    const { database, now } = this.#context;
    const ended = await database.write((trx) => returnUnsent(trx, lease, unsent, now()));
    reportUnsent(this.#context, unsent, ended);
  }

  async #park(lease: Lease, failed: readonly { row: NumberedRequest; error: unknown }[]): Promise<void> {
    if (failed.length === 0) return;
    const { database, logger, now } = this.#context;
    const rows = failed.map(({ row: { id }, error }) => ({ id, error }));
    logParked(logger, "request", await database.write((trx) => parkClaims(trx, lease, rows, now())));
  }

  /** Takes the lane and drives it until `abort`, until an error, or until another process takes it over. */
  async #leaseAndDrive(abort: AbortSignal): Promise<StepResult> {
    const { database, logger, now, share, leaseTimes: times } = this.#context;
    // A process whose settings still have the lane may want to drive it, so an idle one is left alone.
    if (this.#isDraining && !(await hasBegun(database.read, this.#index))) return "idle";
    const lease = await this.#takeLease();
    // Another process drives it.
    if (lease === null) return "idle";
    const renew = () => database.write((trx) => renewLease(trx, lease, now() + times.lasts));
    try {
      await whileLeased({ renew, every: times.renewEvery }, abort, (stop) => this.#drive(lease, stop));
      await database.write((trx) => releaseLease(trx, lease));
    } catch (error) {
      if (error instanceof LeaseLost) {
        logger.warn("another process has taken over this lane");
        return "again";
      }
      // Another process may be able to send: this one does not keep the lane while it backs off.
      await this.#giveBack(lease, reasonOf(error));
      throw error;
    } finally {
      share.release(this.#index);
    }
    return "again";
  }

  async #drive(lease: Lease, stop: AbortSignal): Promise<void> {
    const { database, signals, logger, share } = this.#context;
    const abandoned = await database.write((trx) => returnAbandonedClaims(trx, lease, AT_ONCE));
    if (abandoned > 0) logger.info({ requests: abandoned }, "returned requests that were claimed but never signed");
    this.#reason = "not stored yet";
    let poll: number = POLL.most;
    while (!stop.aborted) {
      if (!this.#isDraining && (await share.giveBackSurplus(this.#index))) {
        logger.info("this process drives more than its share of the lanes: it leaves this one to another relayer");
        return;
      }
      await checkDatabaseIsNewest(database);
      const open = await openBatches(database.read, lease.lane);
      if (this.#isDraining && open.length === 0) return;
      const wait = await this.#round(lease, open, stop);
      if (wait === 0) {
        poll = POLL.first;
      } else {
        await signals.requests.wait(Math.min(poll, wait ?? poll), stop);
        poll = Math.min(poll * 2, POLL.most);
      }
    }
  }

  /** @returns null when another process drives the lane, or may take it. */
  async #takeLease(): Promise<Lease | null> {
    const { database, now, leaseTimes: times, share } = this.#context;
    const { lease_holder: holder, lease_until: until } = await this.#row();
    const time = { now: now(), lasts: times.lasts };
    // Read first: a process that stands by does not write.
    const abandoned = holder !== null && (isDue(until, time.now, time.lasts) || holderIsGone(holder));
    if (holder !== null && !abandoned) {
      share.release(this.#index);
      return null;
    }
    if (!this.#isDraining && !share.reserve(this.#index, abandoned)) return null;
    let taken: Lease | null = null;
    try {
      taken = await database.write((trx) => takeLease(trx, this.#index, this.#holder, time, holderIsGone));
      return taken;
    } finally {
      if (taken === null) share.release(this.#index);
    }
  }

  /** The lane's row, which its first use adds. */
  async #row(): Promise<LaneRow> {
    const { database, client, keyring } = this.#context;
    const stored = await readLane(database.read, this.#index);
    if (stored !== undefined) return stored;
    const { address } = keyring.lane(this.#index);
    const [nonce = 0] = await client.reachedNonces([address]);
    await database.write((trx) => ensureLane(trx, this.#index, address, nonce));
    return this.#row();
  }

  async #giveBack(lease: Lease, waitingFor: StoredReason): Promise<void> {
    const { database, logger, now } = this.#context;
    try {
      await database.write(async (trx) => {
        await returnAbandonedClaims(trx, lease, now() + RETURN_DELAY);
        await releaseLease(trx, lease, waitingFor);
      });
    } catch (error) {
      // The lease expires, and the lane's next holder returns the claims. The loop logs the error that led here.
      logger.debug({ err: error }, "the lane could not be released; its lease will expire");
    }
  }
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

/** The most that the transactions can cost, in wei. */
function costOf(batches: readonly RecordedBatch[]): bigint {
  return batches.reduce((sum, { gasLimit, maxFeePerGas }) => sum + gasLimit * maxFeePerGas, 0n);
}
