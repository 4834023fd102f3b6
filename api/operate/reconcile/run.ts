import { randomUUID } from "node:crypto";

import type { Logger } from "pino";
import { z } from "zod";

import type { ChainClient } from "../../chain/client.ts";
import type { ContractAddresses } from "../../chain/contracts.ts";
import { LeaseLost, leaseTimes } from "../../shared/lease.ts";
import type { Database } from "../../store/db/database.ts";
import { deleteMeta, readMeta, writeMeta } from "../../store/db/meta.ts";
import type { Trx } from "../../store/db/sql.ts";
import { WorkLease } from "../../store/db/work-lease.ts";
import { OperatorError } from "../operator-error.ts";

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
  /** A foreign contract with more moves than this in 500 blocks is quarantined. */
  maxForeignMoves: number;
}

/** A run that has not ended. Only one process works on it, and an interrupted run goes on where it was. */
export interface Run {
  /** What was read belongs to this id. */
  id: string;
  /** Last block in which all transactions of the service's lanes are known to the database; -1: none. */
  searchedTo: number;
  /** @throws LeaseLost when another process has taken the run over; then nothing is written. */
  write: Database["write"];
}

/** 0.3.0 kept runs that have ended, without a holder. */
const stored = z.object({ id: z.string(), searchedTo: z.number(), holder: z.string().nullish() });

/** Seconds after which another process may go on with the run of a process that died on another machine. */
const LEASE = 60;
const NEVER = new AbortController().signal;

/** @param anew gives up what an interrupted run has read. @throws OperatorError when another process runs `reconcile`. */
export async function holdRun<T>(deps: ReconcileDeps, anew: boolean, work: (run: Run) => Promise<T>): Promise<T> {
  const lease = new WorkLease("reconcile", { ...deps, times: leaseTimes(LEASE) });
  const seen = { begun: false };
  const ended = await lease.step(NEVER, async () => {
    seen.begun = true;
    const { fenced } = lease;
    try {
      const run = await begin(fenced, anew);
      const result = await work(run);
      await fenced.write((trx) => deleteMeta(trx, "reconcile"));
      return { result };
    } catch (error) {
      // A process that was paused and replaced may see another error first: its call of the node took too long.
      await fenced
        .write(() => Promise.resolve())
        .catch((later: unknown) => {
          if (later instanceof LeaseLost) throw later;
        });
      throw error;
    }
  });
  await lease.release();
  if (ended !== null) return ended.result;
  throw new OperatorError(
    seen.begun
      ? "Another process has taken over this run of reconcile. Wait until it ends."
      : "Another process runs reconcile with this database. Wait until it ends. If it was killed on another machine, run this again in a minute.",
  );
}

/** Goes on with the unfinished run, or begins one. */
async function begin(database: Database, anew: boolean): Promise<Run> {
  const text = await readMeta(database.read, "reconcile");
  const before = text === null || anew ? null : stored.parse(JSON.parse(text));
  const { id, searchedTo } = before === null || before.holder === null ? { id: randomUUID(), searchedTo: -1 } : before;
  const run: Run = { id, searchedTo, write: (work) => database.write(work) };
  await run.write((trx) => storeRun(trx, run));
  return run;
}

export function storeRun(trx: Trx, { id, searchedTo }: Run): Promise<void> {
  return writeMeta(trx, "reconcile", JSON.stringify({ id, searchedTo }));
}
