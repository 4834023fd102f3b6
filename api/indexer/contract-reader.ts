import type { Logger } from "pino";

import { backoff } from "../domain/backoff.ts";
import type { ChainClient } from "../chain/client.ts";
import { ChainUnavailable, describeError, RpcError } from "../chain/errors.ts";
import { describeContract } from "../chain/adoptable.ts";
import { inspect, readHoldings, receivedTokens } from "../chain/foreign.ts";
import type { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import type { ForeignContractRow } from "../store/db/schema-contracts.ts";
import {
  type ContractRead,
  finishRead,
  READ_WAIT,
  type ReadStart,
  recordSearch,
  returnRead,
  startOfRead,
  leaseReads,
} from "../store/ledger/contract-reads.ts";
import { recordAdopted } from "../store/ledger/adoptions.ts";
import { recordInspection, recordReads, leaseContracts } from "../store/ledger/contract-states.ts";
import { uncertainOf } from "../store/ledger/uncertain.ts";
import { readsOf } from "./foreign-moves.ts";
import { readPast } from "./read-past.ts";
import { reportQuarantines } from "./store-blocks.ts";

interface ContractReaderDeps {
  database: Database;
  client: ChainClient;
  wake: Signal;
  logger: Logger;
  confirmations: number;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** One app has at most this many reads in a minute. */
  readsPerMinute: number;
  now: () => number;
}

/** Time limit of one piece of work, in milliseconds. Shorter than its lease. */
const DEADLINE = 10_000;
const POLL = 1_000;
/** Balances that one read takes. */
const BALANCES = 200;

/**
 * Reads foreign contracts in the background: their type, what wallets held before they were followed, and balances that could
 * not be read with their block. The work is rows in the database, so it survives a crash, and several processes share it.
 */
export class ContractReader {
  readonly #deps: ContractReaderDeps;
  readonly #contracts: WorkLoop;
  readonly #reads: WorkLoop;

  constructor(deps: ContractReaderDeps) {
    this.#deps = deps;
    const loop = () =>
      new WorkLoop({
        logger: deps.logger,
        wake: deps.wake,
        pollInterval: POLL,
        messages: {
          failed: "followed contracts cannot be read; retrying",
          recovered: "followed contracts can be read again",
        },
        describe: describeError,
      });
    [this.#contracts, this.#reads] = [loop(), loop()];
  }

  get lastError(): string | null {
    return this.#contracts.lastError ?? this.#reads.lastError;
  }

  /** Balances do not wait for contracts: the past of an adopted contract is read for seconds at a time. */
  async run(abort: AbortSignal): Promise<void> {
    const contracts = this.#contracts.run((stop) => this.#inspectDue(stop), abort);
    await Promise.all([contracts, this.#reads.run((stop) => this.#readDue(stop), abort)]);
  }

  /** Does what is due now. @throws the first error of the node, after everything else was done. */
  step(abort: AbortSignal = new AbortController().signal): Promise<StepResult> {
    return allOf([this.#inspectDue(abort), this.#readDue(abort)], abort);
  }

  async #inspectDue(abort: AbortSignal): Promise<StepResult> {
    const due = await this.#deps.database.write((trx) => leaseContracts(trx, this.#deps.now()));
    return allOf(
      due.map((contract) => this.#inspect(contract, abort)),
      abort,
    );
  }

  async #readDue(abort: AbortSignal): Promise<StepResult> {
    const { database, readsPerMinute, now } = this.#deps;
    const { reads, start } = await database.write(async (trx) => ({
      reads: await leaseReads(trx, now(), readsPerMinute),
      start: await startOfRead(trx),
    }));
    return allOf(
      reads.map((read) => this.#read(read, start, abort)),
      abort,
    );
  }

  async #inspect(contract: ForeignContractRow, abort: AbortSignal): Promise<void> {
    const { database, client, logger, now } = this.#deps;
    try {
      if (contract.state === "reading") {
        reportQuarantines(logger, await readPast(this.#deps, contract, abort));
        return;
      }
      // Only adopted contracts are asked again.
      if (contract.state === "followed") {
        const known = await client.nodes.session(() => describeContract(client, contract.address, this.#bounds(abort)));
        await database.write((trx) => recordAdopted(trx, contract, known, now()));
        return;
      }
      const known = await client.nodes.session(() => inspect(client, contract.address, this.#bounds(abort)));
      await database.write((trx) => recordInspection(trx, contract, known, now()));
    } catch (error) {
      // Another process, or this one, tries again soon.
      await database.write((trx) => recordInspection(trx, contract, undefined, now()));
      throw error;
    }
  }

  async #read(read: ContractRead, start: ReadStart, abort: AbortSignal): Promise<void> {
    const { database, now } = this.#deps;
    const retryAt = now() + backoff(READ_WAIT, read.tries);
    try {
      if (read.search === 1 && !(await this.#search(read, start, abort))) return;
      await this.#readBalances(read, start, { abort, retryAt });
    } catch (error) {
      // Being stopped does not count as a try.
      await database.write((trx) => returnRead(trx, read, abort.aborted ? 0 : retryAt, !abort.aborted));
      if (error instanceof ChainUnavailable || error instanceof RpcError) throw error;
      this.#deps.logger.error({ err: error, contract: read.contract }, "a read of a followed contract failed");
    }
  }

  /** Finds the tokens that a wallet received earlier. @returns false when another process has taken the read over. */
  async #search(read: ContractRead, start: ReadStart, abort: AbortSignal): Promise<boolean> {
    const { database, client, logger } = this.#deps;
    const bounded = AbortSignal.any([abort, AbortSignal.timeout(DEADLINE)]);
    const found = await client.nodes.session(() => receivedTokens(client, read, start.checkpoint, bounded));
    if (found.from > 0) {
      logger.info(
        { contract: read.contract, wallet: read.owner, from: found.from },
        "not all blocks could be searched for earlier tokens of a wallet: older tokens are found only when they are named",
      );
    }
    return database.write((trx) => recordSearch(trx, read, found.tokenIds, start));
  }

  async #readBalances(
    read: ContractRead,
    start: ReadStart,
    { abort, retryAt }: { abort: AbortSignal; retryAt: number },
  ): Promise<void> {
    const { database, client, confirmations, logger, now } = this.#deps;
    const waiting = await uncertainOf(database.read, read, BALANCES);
    const queries = waiting.map((one) => ({ ...one, type: read.type }));
    // Far behind the head, the node may no longer have the state at the checkpoint. Then the newest state that no reorg can
    // change is read instead.
    const { block, held } = await client.nodes.session(async () => {
      const head = queries.length === 0 ? start.checkpoint : await client.headNumber();
      const at = Math.max(start.checkpoint, head - confirmations);
      return { block: at, held: await readHoldings(client, queries, { ...this.#bounds(abort), block: at }) };
    });
    const known = waiting.flatMap(({ tokenId }, index) => {
      const answer = held[index];
      return answer === undefined || answer === "failed" ? [] : [{ tokenId, quantity: answer ?? 0n }];
    });
    const result = { held: known, block, all: known.length === waiting.length, retryAt };
    const quarantined = await database.write(async (trx) => {
      await finishRead(trx, read, start, result);
      return recordReads(trx, readsOf(queries, held), now());
    });
    reportQuarantines(logger, quarantined);
    if (held.includes(undefined) && !abort.aborted)
      throw new ChainUnavailable("the node could not run calls of followed contracts");
  }

  #bounds(abort: AbortSignal): { gas: number; abort: AbortSignal } {
    return { gas: this.#deps.foreignCallGas, abort: AbortSignal.any([abort, AbortSignal.timeout(DEADLINE)]) };
  }
}

/** Waits for all. @throws the first error. */
async function allOf(works: readonly Promise<unknown>[], abort: AbortSignal): Promise<StepResult> {
  const ends = await Promise.allSettled(works);
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined && !abort.aborted) throw failed.reason;
  return ends.some((end) => end.status === "fulfilled" && end.value !== "idle") ? "again" : "idle";
}
