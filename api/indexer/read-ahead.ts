import type { Block, ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import { type ChainRange, readRange } from "./read-range.ts";
import type { ReceiptCheck } from "./receipt-check.ts";

export interface ReadBlocks {
  from: number;
  to: number;
  /** The newest block when the reading began. A block that was not deep enough then may have been replaced since. */
  head: number;
  /** The first block whose header is kept. */
  remember: number;
  read: ChainRange;
  /** The followed contracts whose logs were read. */
  indexed: IndexedContracts;
}

interface Wanted extends Pick<ReadBlocks, "from" | "head" | "remember" | "indexed"> {
  /** The block at `from` if it was read already. */
  first: Block | null;
}

/**
 * Reads ranges of blocks, and far behind the head also the next range while the one before it is stored. At most one range
 * is read ahead. Whoever stores a range compares its first block with the stored one before it, so a range that a reorg has
 * dropped meanwhile is not stored.
 */
export class ReadAhead {
  readonly #client: ChainClient;
  readonly #contracts: () => Promise<ContractAddresses>;
  readonly #receipts: Pick<ReceiptCheck, "check"> | null;
  #next: { wanted: Wanted; blocks: Promise<ReadBlocks> } | null = null;

  /** @param contracts reads them anew: another process may have added a factory, and used it in a block of the next range. */
  constructor(
    client: ChainClient,
    contracts: () => Promise<ContractAddresses>,
    receipts: Pick<ReceiptCheck, "check"> | null = null,
  ) {
    this.#client = client;
    this.#contracts = contracts;
    this.#receipts = receipts;
  }

  /** The blocks from `from` on. @throws ChainUnavailable, RangeTooLarge: read again, the range is smaller then. */
  async take(wanted: Wanted): Promise<ReadBlocks> {
    const next = this.#next;
    this.#next = null;
    const { from, indexed } = wanted;
    const isCurrent = next?.wanted.from === from && next.wanted.indexed.foreignVersion === indexed.foreignVersion;
    return isCurrent ? next.blocks : this.#read(wanted);
  }

  /** Begins to read the range after this one. */
  begin({ to, read, indexed }: ReadBlocks, { head, remember }: { head: number; remember: number }): void {
    // The logs of a collection that this range creates can be read once the collection is stored.
    if (to >= head || read.created.length > 0) return;
    const wanted = { from: to + 1, head, remember, first: null, indexed };
    const blocks = this.#read(wanted);
    // `take` throws it, if the range is still wanted then.
    blocks.catch(() => undefined);
    this.#next = { wanted, blocks };
  }

  /** Drops what was read ahead: the blocks may not be those that come next. */
  forget(): void {
    this.#next = null;
  }

  /** Waits until nothing is being read. */
  async idle(): Promise<void> {
    await this.#next?.blocks.catch(() => undefined);
  }

  async #read({ from, head, remember, first, indexed }: Wanted): Promise<ReadBlocks> {
    const to = Math.min(head, from - 1 + this.#client.logLimits.blocks.value);
    const range = { from, to, head, remember, first };
    const read = await readRange(this.#client, await this.#contracts(), indexed, range, this.#receipts);
    return { from, to, head, remember, read, indexed };
  }
}
