import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import { type HoldingQuery, readHoldings } from "../chain/foreign-contracts.ts";
import { readRelayOwner } from "../chain/relay-reads.ts";
import { engineOf } from "../store/db/engine.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { Signals } from "../shared/signal.ts";
import { prepareRange, type PreparedRange } from "./prepare-range.ts";
import type { ReadBlocks } from "./read-ahead.ts";
import { cut, type Slice, SliceSize } from "./slices.ts";
import { type StoreDeps, storeRange } from "./store-range.ts";
import { unknownOfLanes } from "./unknown-transactions.ts";

/**
 * How often the same blocks are read again because the followed contracts have changed. An app that begins to follow a new
 * contract changes them twice, and apps that change them all the time must not hold up the indexer.
 */
const MOST_READS_AGAIN = 3;
/** Milliseconds for the reads of foreign contracts that belong to the newest blocks. The others are read in the background. */
const FOREIGN_DEADLINE = 2_000;

export interface RangeStoreDeps extends StoreDeps {
  client: ChainClient;
  contracts: ContractAddresses;
  signals: Signals;
  confirmations: number;
  /** Gas limit of one call of a foreign contract. */
  foreignCallGas: number;
  /** How many logs one commit stores. By default it adapts to how long commits take. */
  sliceSize?: Pick<SliceSize, "value" | "took">;
}

/** Joins what was read with the database and stores it, slice by slice. Each slice is one commit, with its checkpoint. */
export class RangeStore {
  readonly #deps: RangeStoreDeps;
  readonly #size: Pick<SliceSize, "value" | "took">;
  /** The blocks that were read again because the followed contracts had changed, and how often. */
  #readAgain: { from: number; to: number; times: number } | null = null;

  constructor(deps: RangeStoreDeps) {
    this.#deps = deps;
    this.#size = deps.sliceSize ?? new SliceSize(engineOf(deps.database.read));
  }

  /** @returns false when the blocks that are not stored yet must be read again. */
  async store(blocks: ReadBlocks): Promise<boolean> {
    const { signals, contracts } = this.#deps;
    let { watched } = blocks;
    let unread = false;
    let rest: Omit<Slice, "logs"> | null = { from: blocks.from, to: blocks.to, read: blocks.read };
    while (rest !== null) {
      const [slice, left] = cut(rest, this.#size.value);
      rest = left;
      const range = await this.#prepare(slice, { ...blocks, watched });
      crashPoint("indexer:read");
      const facts = { relayOwner: range.needsRelayOwner ? await this.#relayOwner() : contracts.relay };
      // Of all the blocks together, not of each slice.
      const times = this.#readsAgain(slice.from);
      const again = times < MOST_READS_AGAIN;
      const started = performance.now();
      const stored = await storeRange(this.#deps, range, { read: slice.read, watched, facts, again });
      if (stored === "changed") this.#readAgain = { from: slice.from, to: blocks.to, times: times + 1 };
      if (stored !== "stored") return false;
      // A later slice may have logs of a collection that this one has created.
      watched = { ...watched, collections: range.collections };
      this.#size.took(slice.logs, performance.now() - started);
      crashPoint("indexer:stored");
      // Lanes wait for their batches to be mined, the dispatcher waits for events. Both look into the database, which takes
      // as long as storing a few hundred logs.
      if (rest === null || range.batches.length + range.cancelled.length > 0) {
        signals.requests.notify();
        signals.deliveries.notify();
      }
      unread ||= range.foreignHoldings.some(({ quantity }) => quantity === null);
      // The contract reader leaves balances alone while the checkpoint is far behind.
      if (unread && range.to >= range.confirmed) signals.contracts.notify();
    }
    return true;
  }

  #readsAgain(block: number): number {
    if (this.#readAgain === null || block < this.#readAgain.from || block > this.#readAgain.to) return 0;
    return this.#readAgain.times;
  }

  #prepare({ from, to, read }: Slice, { head, remember, watched }: ReadBlocks): Promise<PreparedRange> {
    const { database, client, confirmations, foreignCallGas } = this.#deps;
    const holdings = (queries: HoldingQuery[]) => {
      const abort = AbortSignal.timeout(FOREIGN_DEADLINE);
      return readHoldings(client, queries, { gas: foreignCallGas, block: to, abort });
    };
    return prepareRange(
      {
        ...this.#deps,
        receipts: (hashes) => client.receipts(hashes),
        transactions: (hashes) => client.transactions(hashes),
        ofLanes: (hashes) => unknownOfLanes({ database, client }, hashes),
        // Below the head, later blocks may change the same balances again, and the node may no longer have the state.
        holdings: to === head ? holdings : null,
      },
      watched,
      read,
      { from, to, confirmed: Math.max(0, head - confirmations + 1), remember },
    );
  }

  async #relayOwner(): Promise<string> {
    const { client, contracts } = this.#deps;
    const owner = await readRelayOwner(client, contracts.relay);
    if (owner === null) throw new ChainUnavailable(`the node has no relay contract at ${contracts.relay}`);
    return owner;
  }
}
