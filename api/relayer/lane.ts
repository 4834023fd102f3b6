import type { StoredReason } from "../domain/waiting-for.ts";
import { describeError } from "../chain/errors.ts";
import { LeaseLost, type LeaseTimes, whileLeased } from "../shared/lease.ts";
import { holderIsGone, newLeaseHolder } from "../shared/lease-holder.ts";
import { pause } from "../shared/pause.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import { type OpenBatch, openBatches } from "../store/sending/batches.ts";
import { countReady, returnAbandonedClaims } from "../store/sending/claims.ts";
import { AT_ONCE, isDue } from "../store/db/due.ts";
import type { LaneRow } from "../store/db/schema.ts";
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
import { CannotSend, checkCanSend, checkDatabaseIsNewest, reasonOf } from "./can-send.ts";
import { InFlight, type ResendPolicy } from "./in-flight.ts";
import type { LaneShare } from "./lane-share.ts";
import { pauseBeforePartial } from "./pace.ts";
import { BatchSender, type SenderDeps } from "./sender.ts";

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

interface LaneDeps extends SenderDeps {
  /** When unmined transactions are sent again, and when they are replaced. */
  resendPolicy: ResendPolicy;
  /** The lane is no longer in the settings: it finishes what it began and takes no new requests. */
  draining: boolean;
  lease: LeaseTimes;
  /** How many lanes this process drives. It does not count lanes that drain. */
  share: LaneShare;
}

/**
 * One sending key and its nonces. Sends the requests that are ready and watches its transactions until they are mined.
 * Exactly one process drives a lane at a time: it holds a lease, whose fencing token guards every write that decides something.
 */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #index: number;
  readonly #holder = newLeaseHolder();
  readonly #inFlight: InFlight;
  readonly #sender: BatchSender;
  readonly #loop: WorkLoop;

  constructor(index: number, deps: LaneDeps) {
    this.#index = index;
    this.#deps = { ...deps, logger: deps.logger.child({ lane: index }) };
    this.#inFlight = new InFlight(this.#deps);
    this.#sender = new BatchSender(this.#deps, this.#inFlight);
    this.#loop = new WorkLoop({
      logger: this.#deps.logger,
      wake: deps.signals.requests,
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
    await this.#loop.run((stop) => this.#step(stop), abort);
  }

  /** Takes the lane and drives it until `abort`, until an error, or until another process takes it over. */
  async #step(abort: AbortSignal): Promise<StepResult> {
    const { database, logger, now, draining, share, lease: times } = this.#deps;
    // A process whose settings still have the lane may want to drive it, so an idle one is left alone.
    if (draining && !(await hasBegun(database.read, this.#index))) return "idle";
    const lease = await this.#take();
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

  /** @returns null when another process drives the lane, or may take it. */
  async #take(): Promise<Lease | null> {
    const { database, now, lease: times, draining, share } = this.#deps;
    const { lease_holder: holder, lease_until: until } = await this.#row();
    const time = { now: now(), lasts: times.lasts };
    // Read first: a process that stands by does not write.
    const abandoned = holder !== null && (isDue(until, time.now, time.lasts) || holderIsGone(holder));
    if (holder !== null && !abandoned) {
      share.release(this.#index);
      return null;
    }
    if (!draining && !share.reserve(this.#index, abandoned)) return null;
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
    const { database, client, keyring } = this.#deps;
    const stored = await readLane(database.read, this.#index);
    if (stored !== undefined) return stored;
    const { address } = keyring.lane(this.#index);
    const [nonce = 0] = await client.reachedNonces([address]);
    await database.write((trx) => ensureLane(trx, this.#index, address, nonce));
    return this.#row();
  }

  async #giveBack(lease: Lease, waitingFor: StoredReason): Promise<void> {
    try {
      await this.#deps.database.write(async (trx) => {
        await returnAbandonedClaims(trx, lease, this.#deps.now() + RETURN_DELAY);
        await releaseLease(trx, lease, waitingFor);
      });
    } catch (error) {
      // The lease expires, and the lane's next holder returns the claims. The loop logs the error that led here.
      this.#deps.logger.debug({ err: error }, "the lane could not be released; its lease will expire");
    }
  }

  async #drive(lease: Lease, stop: AbortSignal): Promise<void> {
    const { database, signals, logger, keyring, draining, share } = this.#deps;
    const abandoned = await database.write((trx) => returnAbandonedClaims(trx, lease, AT_ONCE));
    if (abandoned > 0) logger.info({ requests: abandoned }, "returned requests that were claimed but never signed");
    let checked = false;
    // What an earlier holder stored is not known.
    let told: StoredReason | null | undefined;
    let poll: number = POLL.most;
    while (!stop.aborted) {
      if (!draining && (await share.giveBackSurplus(this.#index))) {
        logger.info("this process drives more than its share of the lanes: it leaves this one to another relayer");
        return;
      }
      await checkDatabaseIsNewest(database);
      const open = await openBatches(database.read, lease.lane);
      if (draining && open.length === 0) return;
      await this.#inFlight.watch(lease, open);
      if (!checked) {
        // Report at start what keeps the lane from sending, not only when the first request arrives.
        if (!draining) await checkCanSend(this.#deps, keyring.lane(this.#index).address);
        this.#loop.recovered();
        checked = true;
      }
      const reason = this.#inFlight.reasonFor(open);
      if (reason !== told) await database.write((trx) => storeReason(trx, lease, reason));
      told = reason;
      const room = !draining && this.#sender.hasRoom(open, share.lanes);
      const wait = room ? await this.#gather(lease.lane, stop, open) : null;
      if (wait === 0 && (await this.#sender.send(lease, open, share.lanes))) {
        poll = POLL.first;
      } else {
        await signals.requests.wait(wait === null || wait === 0 ? poll : Math.min(poll, wait), stop);
        poll = Math.min(poll * 2, POLL.most);
      }
    }
  }

  /**
   * Lets requests share a transaction.
   * @param open the transactions in flight.
   * @returns milliseconds after which the ready requests may be sent; 0: now; null: none may be sent.
   */
  async #gather(lane: number, stop: AbortSignal, open: readonly OpenBatch[]): Promise<number | null> {
    const { database, now } = this.#deps;
    const full = this.#sender.largestBatch;
    const started = performance.now();
    let ready = await countReady(database.read, now(), full);
    if (ready === 0) return null;
    if (open.length > 0) return ready < full ? pauseBeforePartial(open, now()) : 0;
    this.#sender.prepare(lane);
    while (ready < full && performance.now() - started < LINGER.most) {
      await pause(LINGER.step, stop);
      const more = await countReady(database.read, now(), full);
      if (more <= ready || stop.aborted) break;
      ready = more;
    }
    return 0;
  }
}
