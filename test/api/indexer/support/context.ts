import pino from "pino";

import { ChainClient } from "../../../../api/chain/client.ts";
import { attributeRange } from "../../../../api/indexer/attribute-range.ts";
import type { IndexerContext } from "../../../../api/indexer/context.ts";
import { addNodeFacts } from "../../../../api/indexer/node-facts.ts";
import type { ChainRange } from "../../../../api/indexer/read-range.ts";
import { BlockWriter } from "../../../../api/indexer/store-blocks.ts";
import { NO_METRICS } from "../../../../api/shared/metrics.ts";
import { createSignals } from "../../../../api/shared/signal.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { randomContracts } from "../../support/rows.ts";

/** What an indexer works with. Its node does not answer, and it works only when a test asks it to. */
export function indexerContext(database: Database, fields: Partial<IndexerContext> = {}): IndexerContext {
  return {
    database,
    client: new ChainClient("http://127.0.0.1:1"),
    contracts: randomContracts(),
    receipts: null,
    signals: createSignals(),
    logger: pino({ level: "silent" }),
    metrics: NO_METRICS,
    now: () => 1_000,
    confirmations: 5,
    pollInterval: 1_000,
    leaseTimes: null,
    foreignCallGas: 1,
    maxForeignMoves: 1_000,
    ...fields,
  };
}

/** Stores ranges that a test made up, as the indexer does. */
export class RangeWriter {
  readonly #context: IndexerContext;
  readonly #writer: BlockWriter;

  constructor(context: IndexerContext) {
    this.#context = context;
    this.#writer = new BlockWriter(context);
  }

  /** @returns false when the blocks must be read again. */
  async store(range: ChainRange, confirmed: number): Promise<boolean> {
    for (let rest: ChainRange | null = range; rest !== null;) {
      const slice = await this.#writer.cutNext(rest);
      const { attributed, owners, collections } = await attributeRange(this.#context, slice);
      const complete = await addNodeFacts(this.#context, slice, attributed, owners);
      if (!(await this.#writer.store(slice, complete, { confirmed, failuresUpTo: Infinity, deep: confirmed })))
        return false;
      rest = slice.rest && { ...slice.rest, indexed: { ...slice.rest.indexed, collections } };
    }
    return true;
  }
}
