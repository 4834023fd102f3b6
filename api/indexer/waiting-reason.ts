import { reasonOfChain } from "../chain/errors.ts";
import type { Condition, ParkedKind } from "../domain/conditions.ts";
import type { StoredReason } from "../domain/waiting-for.ts";
import { deleteMeta, readMeta, writeMeta } from "../store/db/meta.ts";
import { isOutage, parkRows, unparkAll } from "../store/db/parked-rows.ts";
import { firstUnsettled } from "../store/ledger/blocks.ts";
import { UnreadableRequest } from "../store/requests/requests.ts";
import type { Agreement } from "./agreement.ts";
import type { IndexerContext } from "./context.ts";
import { BlockRefused } from "./store-blocks.ts";

/** Stores what keeps the indexer from following the chain: requests wait for it (`waiting_for`). */
export class WaitingReason {
  readonly #context: IndexerContext;
  readonly #agreement: Agreement;
  /** What the database says about this process's work; undefined: what an earlier process stored. */
  #stored: StoredReason | null | undefined;

  constructor(context: IndexerContext, agreement: Agreement) {
    this.#context = context;
    this.#agreement = agreement;
  }

  /** Does a step, and stores what it waits for. */
  async of<T>(step: () => Promise<T>): Promise<T> {
    try {
      const result = await step();
      await this.#store(await this.#waitsForNodes());
      return result;
    } catch (error) {
      if (isOutage(error)) throw error;
      // The first error is reported. What keeps this from being stored is the same, or is met by the next step.
      await this.#store(reasonOfChain(error), error).catch((later: unknown) => {
        this.#context.logger.debug({ err: later }, "what the indexer waits for could not be stored");
      });
      throw error;
    }
  }

  /** Another process does the work, and stores what it waits for. */
  forget(): void {
    this.#stored = undefined;
  }

  /** What is deep enough waits for the nodes, or a failure in it does: one node alone decides about no failure. */
  async #waitsForNodes(): Promise<StoredReason | null> {
    const { client, database, logger } = this.#context;
    if (client.nodes.count === 1) return null;
    if (this.#agreement.problem !== null) return "nodes_disagree";
    const confirmed = Number((await readMeta(database.read, "confirmed_block")) ?? -1);
    if ((await firstUnsettled(database.read, confirmed)) === null) return null;
    if (this.#stored !== "nodes_disagree")
      logger.warn(
        { condition: "node_down" satisfies Condition, block: confirmed },
        "requests that failed on the chain wait for a second node: only one has their blocks",
      );
    return "nodes_disagree";
  }

  async #store(reason: StoredReason | null, error?: unknown): Promise<void> {
    const { database, now } = this.#context;
    const row = stoppingRow(error);
    if (reason === this.#stored && row === null) return;
    await database.write(async (trx) => {
      if (row !== null) await parkRows(trx, row.kind, [{ id: row.id, error }], now());
      if (reason !== null) return writeMeta(trx, "indexer_waits_for", reason);
      await unparkAll(trx, "block");
      await deleteMeta(trx, "indexer_waits_for");
    });
    this.#stored = reason;
  }
}

/** The row that stops the indexer. It is named where `doctor` and `readyz` look for parked rows. Null: the error has another cause. */
export function stoppingRow(error: unknown): { kind: ParkedKind; id: string } | null {
  if (error instanceof UnreadableRequest) return { kind: "request", id: error.id };
  return error instanceof BlockRefused ? { kind: "block", id: error.block.toString() } : null;
}
