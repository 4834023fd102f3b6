import { sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import { type CounterDeltas, counterKeys } from "../db/counters.ts";
import { integerSet, rowSet, type Trx } from "../db/sql.ts";
import { type HoldingKey, holdingKey } from "../../domain/token.ts";
import { lockHoldings } from "../requests/locked-rows.ts";

interface Entry extends HoldingKey {
  /** The row as it is stored; null when there is none. */
  stored: { seq: number; quantity: bigint } | null;
  /** Whether it is left out of its owner's lists: see `listed-holdings.ts`. */
  unlisted: boolean;
  /** Whether the stored row is deleted, with its reservations and its first block. */
  dropped: boolean;
  quantity: bigint;
  sinceBlock: number;
  /** The block of the last change; null: none was made. */
  changedBlock: number | null;
}

/**
 * The holdings that a set of changes touches: read with one statement, changed here in order, and stored with three. A
 * holder who gives everything away and later gets copies back has a new row, with a new first block.
 */
export class HoldingSet {
  readonly #entries = new Map<string, Entry>();

  /** @param isUnlisted of a holding that has no row. */
  static async read(
    trx: Trx,
    keys: Iterable<HoldingKey>,
    isUnlisted: (key: HoldingKey) => boolean = () => false,
  ): Promise<HoldingSet> {
    const set = new HoldingSet();
    for (const { contract, tokenId, owner } of keys) {
      const entry = {
        contract,
        tokenId,
        owner,
        stored: null,
        unlisted: isUnlisted({ contract, tokenId, owner }),
        dropped: false,
        quantity: 0n,
        sinceBlock: 0,
        changedBlock: null,
      };
      set.#entries.set(holdingKey({ contract, tokenId, owner }), entry);
    }
    for (const [key, row] of await lockHoldings(trx, set.#entries.values())) {
      const entry = set.#entries.get(key);
      if (entry === undefined) continue;
      entry.quantity = BigInt(row.quantity);
      entry.stored = { seq: row.seq, quantity: entry.quantity };
      entry.unlisted = row.unlisted === 1;
    }
    return set;
  }

  /** Moves copies between holders of a token. null: a mint (no sender) or a burn (no recipient). */
  move(
    move: { contract: string; tokenId: string; quantity: string; from: string | null; to: string | null },
    sinceBlock: number,
  ): void {
    const { contract, tokenId, from, to } = move;
    if (from === to) return;
    const quantity = BigInt(move.quantity);
    if (from !== null) this.#change({ contract, tokenId, owner: from }, -quantity, sinceBlock);
    if (to !== null) this.#change({ contract, tokenId, owner: to }, quantity, sinceBlock);
  }

  /** The same in an adopted contract, whose events may be wrong: a token of ERC721 is with its last receiver, and nobody has less than 0. */
  moveByEvent(
    { contract, tokenId, quantity, from, to }: Parameters<HoldingSet["move"]>[0],
    type: CollectionType,
    sinceBlock: number,
  ): void {
    const copies = BigInt(quantity);
    if (from !== null) {
      const entry = this.#entry({ contract, tokenId, owner: from });
      setQuantity(entry, entry.quantity > copies ? entry.quantity - copies : 0n, sinceBlock);
    }
    if (to === null) return;
    const entry = this.#entry({ contract, tokenId, owner: to });
    setQuantity(entry, type === "ERC721" ? 1n : entry.quantity + copies, sinceBlock);
  }

  #change(key: HoldingKey, delta: bigint, sinceBlock: number): void {
    const entry = this.#entry(key);
    setQuantity(entry, entry.quantity + delta, sinceBlock);
  }

  /** Sets the number of copies that an owner holds. */
  set(key: HoldingKey, quantity: bigint, sinceBlock: number): void {
    setQuantity(this.#entry(key), quantity, sinceBlock);
  }

  #entry(key: HoldingKey): Entry {
    const entry = this.#entries.get(holdingKey(key));
    if (entry === undefined) throw new Error("a holding was changed that was not read");
    return entry;
  }

  /** Stores the changes. */
  async store(trx: Trx, counters: CounterDeltas): Promise<void> {
    const entries = [...this.#entries.values()];
    const dropped = entries.flatMap(({ stored, dropped: gone }) => (gone && stored !== null ? [stored.seq] : []));
    const changed = entries.flatMap(({ stored, dropped: gone, quantity, changedBlock }) =>
      stored !== null && !gone && changedBlock !== null
        ? [{ seq: stored.seq, quantity: quantity.toString(), changed_block: changedBlock }]
        : [],
    );
    const added = entries.filter(({ stored, dropped: gone, quantity }) => (stored === null || gone) && quantity > 0n);
    for (const entry of entries) count(counters, entry);
    if (dropped.length > 0) {
      await sql`delete from holdings where seq in ${integerSet(trx, dropped)}`.execute(trx);
    }
    if (changed.length > 0) {
      await sql`
        update holdings set quantity = input.quantity, changed_block = input.changed_block
          from ${rowSet(trx, { seq: "integer", quantity: "text", changed_block: "integer" }, changed)} as input
         where holdings.seq = input.seq`.execute(trx);
    }
    await insert(trx, added);
  }
}

function setQuantity(entry: Entry, quantity: bigint, sinceBlock: number): void {
  if (quantity < 0n)
    throw new Error(`${entry.owner} would hold ${quantity.toString()} of ${entry.contract}/${entry.tokenId}`);
  if (entry.quantity === 0n && quantity > 0n) entry.sinceBlock = sinceBlock;
  if (quantity === 0n && entry.stored !== null) entry.dropped = true;
  if (quantity !== entry.quantity) entry.changedBlock = sinceBlock;
  entry.quantity = quantity;
}

async function insert(trx: Trx, added: readonly Entry[]): Promise<void> {
  if (added.length === 0) return;
  const rows = added.map((entry) => ({
    contract: entry.contract,
    token_id: entry.tokenId,
    owner: entry.owner,
    quantity: entry.quantity.toString(),
    since_block: entry.sinceBlock,
    changed_block: entry.changedBlock,
    unlisted: entry.unlisted ? 1 : 0,
  }));
  const columns = {
    contract: "text",
    token_id: "text",
    owner: "text",
    quantity: "text",
    since_block: "integer",
    changed_block: "integer",
    unlisted: "integer",
  } as const;
  await sql`
    insert into holdings (contract, token_id, owner, quantity, reserved, since_block, changed_block, unlisted)
    select contract, token_id, owner, quantity, '0', since_block, changed_block, unlisted from ${rowSet(trx, columns, rows)} as input order by ord
  `.execute(trx);
}

function count(counters: CounterDeltas, { contract, tokenId, owner, stored, quantity, unlisted }: Entry): void {
  const delta = (quantity > 0n ? 1 : 0) - (stored === null ? 0 : 1);
  if (delta === 0) return;
  counters.add(counterKeys.owners(contract, tokenId), delta);
  if (unlisted) return;
  counters.add(counterKeys.holdings(owner), delta);
  counters.add(counterKeys.holdingsOfContract(owner, contract), delta);
}

/** Sets the number of copies of several holdings. */
export async function setHoldings(
  trx: Trx,
  holdings: readonly (HoldingKey & { quantity: bigint; sinceBlock: number })[],
  counters: CounterDeltas,
  isUnlisted?: (key: HoldingKey) => boolean,
): Promise<void> {
  const set = await HoldingSet.read(trx, holdings, isUnlisted);
  for (const holding of holdings) set.set(holding, holding.quantity, holding.sinceBlock);
  await set.store(trx, counters);
}
