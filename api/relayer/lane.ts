import { describeError } from "../chain/errors.ts";
import { holderIsGone, newLeaseHolder } from "../shared/lease-holder.ts";
import { pause } from "../shared/pause.ts";
import { openBatches } from "../store/sending/batches.ts";
import { countReady, returnAbandonedClaims } from "../store/sending/claims.ts";
import { AT_ONCE } from "../store/db/due.ts";
import {
  ensureLane,
  hasBegun,
  type Lease,
  LeaseLost,
  readLane,
  releaseLease,
  renewLease,
  takeLease,
} from "../store/sending/lanes.ts";
import { checkCanSend } from "./can-send.ts";
import { CannotSend } from "./cannot-send.ts";
import { InFlight, type ResendPolicy } from "./in-flight.ts";
import { MAX_BATCH, Sender, type SenderDeps } from "./sender.ts";

/** All times in milliseconds. */
const LEASE = 15_000;
const RENEW = 5_000;
/** How often a lane looks for work that another process has stored. */
const LOOK = 1_000;
/** New requests are given this long to join a batch, as long as they keep coming, */
const LINGER = 60;
/** but the first of them never waits longer than this. */
const LINGER_MAX = 1_500;
/** Wait after a refusal that holds for every batch: no funds, relay paused, node away. */
const BACK_OFF = 2_000;

const MAX_IN_FLIGHT = 4;

export interface LaneDeps extends SenderDeps {
  /** When transactions that no block takes are sent again, and replaced. */
  resendPolicy: ResendPolicy;
  /** A lane that the settings no longer have: it ends what it began, and takes nothing new. */
  draining: boolean;
}

/**
 * One sending key and its nonces. Sends what is ready, and watches what it has sent. Exactly one process drives a lane at a
 * time: the lease's fence guards every write.
 */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #index: number;
  readonly #holder = newLeaseHolder();
  readonly #inFlight: InFlight;
  readonly #sender: Sender;
  /** What keeps this lane from sending. Shown in `readyz`, and logged once per change. */
  #lastError: string | null = null;
  /** What kind of trouble the log has heard of. */
  #said: string | null = null;

  constructor(index: number, deps: LaneDeps) {
    this.#index = index;
    this.#deps = { ...deps, logger: deps.logger.child({ lane: index }) };
    this.#inFlight = new InFlight(this.#deps);
    this.#sender = new Sender(this.#deps, this.#inFlight);
  }

  get index(): number {
    return this.#index;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  /** Runs until `abort`. Errors of the node and of the database are waited out; nothing is lost by them. */
  async run(abort: AbortSignal): Promise<void> {
    const { database, signals, logger, draining } = this.#deps;
    while (!abort.aborted) {
      let lease: Lease | null = null;
      try {
        // A process whose settings still have the lane may drive it: it is taken for as long as it must be, no longer.
        const idle = draining && !(await hasBegun(database.read, this.#index));
        lease = idle ? null : await this.#take();
        if (lease === null) {
          // A lane in trouble is given back at once: whoever keeps it can send, and this process need not.
          this.#cleared();
          await signals.requests.wait(LOOK, abort);
          continue;
        }
        await this.#drive(lease, abort);
        const held = lease;
        await database.write((trx) => releaseLease(trx, held));
      } catch (error) {
        if (error instanceof LeaseLost) {
          logger.warn("another process has taken this lane over");
          continue;
        }
        this.#report(error);
        if (lease !== null) await this.#giveBack(lease);
        await pause(BACK_OFF, abort);
      }
    }
  }

  async #take(): Promise<Lease | null> {
    const { database, client, keyring, now } = this.#deps;
    const { address } = keyring.lane(this.#index);
    if ((await readLane(database.read, this.#index)) === undefined) {
      const [nonce = 0] = await client.nonces([address]);
      await database.write((trx) => ensureLane(trx, this.#index, address, nonce));
    }
    const at = now();
    return database.write((trx) => takeLease(trx, this.#index, this.#holder, { now: at, lasts: LEASE }, holderIsGone));
  }

  async #giveBack(lease: Lease): Promise<void> {
    try {
      await this.#deps.database.write(async (trx) => {
        await returnAbandonedClaims(trx, lease, this.#deps.now() + BACK_OFF);
        await releaseLease(trx, lease);
      });
    } catch (error) {
      // The lease runs out by itself, and its next holder returns the claims.
      this.#deps.logger.warn({ err: error }, "the lane could not be given back");
    }
  }

  async #drive(lease: Lease, abort: AbortSignal): Promise<void> {
    const { database, logger, now } = this.#deps;
    const abandoned = await database.write((trx) => returnAbandonedClaims(trx, lease, AT_ONCE));
    if (abandoned > 0) logger.info({ requests: abandoned }, "took up requests that were claimed but never signed");
    // Beside everything else: one slow exchange with the node must not cost the lane, or two processes only take it from
    // each other in turn.
    let lost: Error | null = null;
    const renewing = setInterval(() => {
      database
        .write((trx) => renewLease(trx, lease, now() + LEASE))
        .catch((error: unknown) => {
          lost = error instanceof Error ? error : new Error(String(error));
        });
    }, RENEW);
    try {
      await this.#work(lease, () => lost, abort);
    } finally {
      clearInterval(renewing);
    }
  }

  /** @param lost what kept the lease from being renewed, if anything. */
  async #work(lease: Lease, lost: () => Error | null, abort: AbortSignal): Promise<void> {
    const { database, signals, keyring, draining } = this.#deps;
    let ready = false;
    while (!abort.aborted) {
      const error = lost();
      if (error !== null) throw error;
      const open = await openBatches(database.read, lease.lane);
      if (draining && open.length === 0) return;
      await this.#inFlight.watch(lease, open);
      if (!ready) {
        // Said at start, not only when the first request comes.
        if (!draining) await checkCanSend(this.#deps, keyring.lane(this.#index).address);
        this.#cleared();
        ready = true;
      }
      if (!draining && open.length < MAX_IN_FLIGHT && (await this.#gather(abort)) > 0) {
        if (await this.#sender.send(lease)) {
          this.#cleared();
          continue;
        }
      }
      await signals.requests.wait(LOOK, abort);
    }
  }

  /** Waits while requests keep coming, so that they share a transaction. @returns how many are ready. */
  async #gather(abort: AbortSignal): Promise<number> {
    const { database, now } = this.#deps;
    const started = performance.now();
    let ready = await countReady(database.read, now(), MAX_BATCH);
    while (ready > 0 && ready < MAX_BATCH && performance.now() - started < LINGER_MAX) {
      await pause(LINGER, abort);
      const more = await countReady(database.read, now(), MAX_BATCH);
      if (more <= ready || abort.aborted) break;
      ready = more;
    }
    return ready;
  }

  #report(error: unknown): void {
    const words = describeError(error);
    // By code where there is one: messages contain values that change from block to block.
    const kind = error instanceof CannotSend ? error.code : words;
    if (kind !== this.#said) this.#deps.logger.error({ err: error }, "the lane cannot send");
    [this.#lastError, this.#said] = [words, kind];
  }

  #cleared(): void {
    if (this.#lastError !== null) this.#deps.logger.info("the lane sends again");
    this.#lastError = this.#said = null;
  }
}
