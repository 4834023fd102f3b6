import { randomUUID } from "node:crypto";

import type { Logger } from "pino";

import type { ChainClient } from "../../chain/client.ts";
import type { ContractAddresses } from "../../chain/contracts.ts";
import { holderIsGone, newLeaseHolder } from "../../shared/lease-holder.ts";
import { LeaseLost, whileLeased } from "../../shared/lease.ts";
import type { Database } from "../../store/db/database.ts";
import { AT_ONCE } from "../../store/db/due.ts";
import type { Trx } from "../../store/db/sql.ts";
import { endRun, holdRun, type Run, takeRun } from "../../store/reconcile/run.ts";
import { OperatorError } from "../operator-error.ts";

/** Milliseconds after which another process may go on with the run of a process that died on another machine. */
const LEASE = 60_000;
const NEVER = new AbortController().signal;

/** This process's lease of a run. Two processes never work on the same run, and an interrupted run goes on where it was. */
export class RunLease {
  readonly #deps: ReconcileDeps;
  readonly #run: Run;

  private constructor(deps: ReconcileDeps, run: Run) {
    this.#deps = deps;
    this.#run = run;
  }

  /** @param anew gives up what an interrupted run has read. @throws OperatorError when another process runs `reconcile`. */
  static async hold<T>(deps: ReconcileDeps, anew: boolean, work: (lease: RunLease) => Promise<T>): Promise<T> {
    const holder = newLeaseHolder();
    const time = { now: deps.now(), lasts: LEASE };
    const run = await deps.database.write((trx) =>
      takeRun(trx, { id: randomUUID(), anew }, { holder, ...time, isGone: holderIsGone }),
    );
    if (run === null) {
      throw new OperatorError(
        "Another process runs reconcile with this database. Wait until it ends. If it was killed on another machine, run this again in a minute.",
      );
    }
    const lease = new RunLease(deps, run);
    try {
      return await whileLeased({ renew: () => lease.#renew(), every: LEASE / 4 }, NEVER, async () => {
        const result = await work(lease);
        await deps.database.write((trx) => endRun(trx, run));
        return result;
      });
    } catch (error) {
      // A process that was paused may see another error first: its call of the node took too long.
      if (!(error instanceof LeaseLost) && !(await lease.#release())) throw error;
      throw new OperatorError("Another process has taken over this run of reconcile. Wait until it ends.", {
        cause: error,
      });
    }
  }

  /** After a failure the run can go on at once. @returns whether another process has taken it over. */
  async #release(): Promise<boolean> {
    try {
      await this.#deps.database.write((trx) => holdRun(trx, this.#run, AT_ONCE));
      return false;
    } catch (error) {
      // Otherwise the lease runs out by itself. The caller throws the first error, which is the cause.
      return error instanceof LeaseLost;
    }
  }

  get id(): string {
    return this.#run.id;
  }

  get searchedTo(): number {
    return this.#run.searchedTo;
  }

  /** Notes up to which block the search for unknown transactions has found none. */
  async searched(block: number): Promise<void> {
    this.#run.searchedTo = Math.max(this.#run.searchedTo, block);
    await this.#renew();
  }

  /** What was read belongs to a state of the database that is gone. The next `id` is another one. */
  restart(): void {
    this.#run.id = randomUUID();
  }

  /** A write of this run. @throws LeaseLost when another process has taken the run over; then nothing is written. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
    return this.#deps.database.write(async (trx) => {
      await holdRun(trx, this.#run, this.#deps.now() + LEASE);
      return work(trx);
    });
  }

  #renew(): Promise<void> {
    return this.write(() => Promise.resolve());
  }
}

export interface ReconcileDeps {
  database: Database;
  client: ChainClient;
  contracts: ContractAddresses;
  /** Address of a lane of the seed. */
  laneAddress(lane: number): string;
  logger: Logger;
  confirmations: number;
  now: () => number;
  /** Where the blocks that were read are kept, so that an interrupted run goes on. */
  folder: string;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** Most transfer logs of a foreign contract in 500 blocks. */
  maxForeignMoves: number;
}
