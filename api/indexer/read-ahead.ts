import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import { type ChainRange, type RangeToRead, readRange } from "./read-range.ts";
import type { ReceiptCheck } from "./receipt-check.ts";

/** The range is as long as the node's limits allow. */
type Wanted = Omit<RangeToRead, "to" | "indexed">;

interface ReadAheadDeps {
  client: ChainClient;
  /** Reads them anew: another process may have added a factory, and used it in a block of the next range. */
  contracts: () => Promise<ContractAddresses>;
  indexed: () => Promise<IndexedContracts>;
  receipts: Pick<ReceiptCheck, "check"> | null;
}

/**
 * Reads ranges of blocks, and far behind the head also the next range while the one before it is stored. At most one range
 * is read ahead. Whoever stores a range compares its first block with the stored one before it, so a range that a reorg has
 * dropped meanwhile is not stored.
 */
export class ReadAhead {
  readonly #deps: ReadAheadDeps;
  #next: { from: number; version: number; node: number; range: Promise<ChainRange> } | null = null;

  constructor(deps: ReadAheadDeps) {
    this.#deps = deps;
  }

  /**
   * The blocks from `from` on, of the node that is read now.
   * @throws ChainUnavailable, RangeTooLarge: read again, the range is smaller then.
   */
  async take(wanted: Wanted): Promise<ChainRange> {
    const next = this.#next;
    this.#next = null;
    const indexed = await this.#deps.indexed();
    const { number } = this.#deps.client.nodes;
    const isWanted = next?.from === wanted.from && next.version === indexed.foreignVersion && next.node === number;
    return isWanted ? next.range : this.#read(wanted, indexed);
  }

  /** Begins to read the range after this one. */
  begin({ to, created, indexed }: ChainRange, { head, remember }: { head: number; remember: number }): void {
    // The logs of a collection that this range creates can be read once the collection is stored.
    if (to >= head || created.length > 0) return;
    const from = to + 1;
    const range = this.#read({ from, head, remember, first: null }, indexed);
    // `take` throws it, if the range is still wanted then.
    range.catch(() => undefined);
    this.#next = { from, version: indexed.foreignVersion, node: this.#deps.client.nodes.number, range };
  }

  /** Drops what was read ahead. */
  forget(): void {
    this.#next = null;
  }

  /** Waits until nothing is being read. */
  async idle(): Promise<void> {
    await this.#next?.range.catch(() => undefined);
  }

  async #read(wanted: Wanted, indexed: IndexedContracts): Promise<ChainRange> {
    const { client, contracts, receipts } = this.#deps;
    const to = Math.min(wanted.head, wanted.from - 1 + client.logLimits.blocks.value);
    return readRange(client, await contracts(), { ...wanted, to, indexed }, receipts);
  }
}
