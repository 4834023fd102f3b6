import { sql } from "kysely";

import type { CollectionType, TokenMetadata } from "../../domain/command.ts";
import { type TokenKey, tokenKey } from "../../domain/token.ts";
import { type CounterDeltas, counterKeys } from "../db/counters.ts";
import { inParts, rowSet, type Trx } from "../db/sql.ts";
import { insertTraits, searchName, storeTraits, traitKeys } from "../listings/search.ts";
import { lockTokens } from "../requests/locked-rows.ts";
import type { StoredMove } from "./history.ts";

/** The data that a mint gets from its request. */
export interface MintContent {
  metadata: TokenMetadata | null;
  tokenUri: string | null;
}

interface Origin {
  requestId: string | null;
  content: MintContent | null;
}

interface Entry extends TokenKey {
  stored: { seq: number; supply: bigint } | null;
  requestId: string | null;
  supply: bigint;
  /** Block and time of the first mint; null while it is not on chain. */
  minted: { block: number; at: number } | null;
  /** The block of the last change; null: none was made. */
  changedBlock: number | null;
  /** Whether the first mint is among the changes. */
  first: boolean;
  /** Set when the row's request and content change with the first mint. */
  origin: Origin | null;
}

type Change = Pick<StoredMove, "contract" | "tokenId" | "quantity" | "blockNumber">;

/** The tokens that a set of moves touches: read with one statement, changed here in order, and stored with three. */
export class TokenSet {
  readonly #entries = new Map<string, Entry>();

  static async read(trx: Trx, keys: Iterable<TokenKey>): Promise<TokenSet> {
    const set = new TokenSet();
    for (const { contract, tokenId } of keys) {
      const empty = {
        stored: null,
        requestId: null,
        supply: 0n,
        minted: null,
        changedBlock: null,
        first: false,
        origin: null,
      };
      set.#entries.set(tokenKey({ contract, tokenId }), { contract, tokenId, ...empty });
    }
    for (const [key, row] of await lockTokens(trx, set.#entries.values())) {
      const entry = set.#entries.get(key);
      if (entry === undefined) continue;
      entry.supply = BigInt(row.supply);
      entry.stored = { seq: row.seq, supply: entry.supply };
      entry.requestId = row.request_id;
      entry.minted = row.minted_block === null ? null : { block: row.minted_block, at: row.minted_at ?? 0 };
    }
    return set;
  }

  /** Adds minted copies, and the token itself at its first mint. */
  mint(move: StoredMove, type: CollectionType, content: MintContent | null): void {
    const entry = this.#entry(move);
    if (entry.minted === null) {
      entry.minted = { block: move.blockNumber, at: move.timestamp };
      entry.first = true;
      // If a request reserved this id but somebody else created it first, the token gets nothing from that request:
      // neither its metadata nor its unlockable content.
      if (entry.stored === null || move.requestId === null || entry.requestId !== move.requestId) {
        entry.requestId = move.requestId;
        entry.origin = { requestId: move.requestId, content };
      }
    } else if (type === "ERC721") {
      throw new Error(`${move.contract}/${move.tokenId} was minted twice`);
    }
    change(entry, BigInt(move.quantity), move.blockNumber);
  }

  /** Subtracts burnt copies. The row stays: an ERC721 id is never used again, and an ERC1155 id can be minted again. */
  burn(move: Change): void {
    const entry = this.#entry(move);
    if (entry.minted === null) throw new Error(`${move.contract}/${move.tokenId} was burnt but never minted`);
    change(entry, -BigInt(move.quantity), move.blockNumber);
  }

  /**
   * The same in an adopted contract, whose events may be wrong: a token that moves exists, and no number of copies is below 0.
   * @param options.undone whether it takes a move back that a reorg has dropped. @param options.made by a request: its first mint.
   */
  moveByEvent(
    move: Change & Pick<StoredMove, "from" | "to" | "timestamp">,
    type: CollectionType,
    { undone = false, made = null }: { undone?: boolean; made?: Entry["origin"] } = {},
  ): void {
    const entry = this.#entry(move);
    if (entry.minted === null && !undone) {
      entry.minted = { block: move.blockNumber, at: move.timestamp };
      entry.first = true;
      if (made !== null) [entry.requestId, entry.origin] = [made.requestId, made];
    }
    const copies = BigInt(move.quantity);
    const least = move.to === null ? 0n : type === "ERC721" || entry.supply === 0n ? copies : entry.supply;
    const sum = entry.supply + (move.from === null ? copies : move.to === null ? -copies : 0n);
    const supply = type === "ERC721" ? least : sum > least ? sum : least;
    change(entry, supply - entry.supply, move.blockNumber);
  }

  /** Undoes a mint that a reorg dropped. The row is deleted only if its first block was dropped too. */
  undoMint(move: Change): void {
    change(this.#entry(move), -BigInt(move.quantity), move.blockNumber);
  }

  /** Undoes a burn that a reorg dropped. */
  undoBurn(move: Change): void {
    change(this.#entry(move), BigInt(move.quantity), move.blockNumber);
  }

  #entry({ contract, tokenId }: TokenKey): Entry {
    const entry = this.#entries.get(tokenKey({ contract, tokenId }));
    if (entry === undefined) throw new Error("a token was changed that was not read");
    return entry;
  }

  /** Stores the changes. */
  async store(trx: Trx, counters: CounterDeltas): Promise<void> {
    const entries = [...this.#entries.values()];
    for (const { contract, supply, stored } of entries) {
      counters.add(counterKeys.nfts(contract), (supply > 0n ? 1 : 0) - ((stored?.supply ?? 0n) > 0n ? 1 : 0));
    }
    await insertTokens(
      trx,
      entries.filter(({ stored, minted }) => stored === null && minted !== null),
    );
    await updateTokens(
      trx,
      entries.filter(({ stored, changedBlock }) => stored !== null && changedBlock !== null),
    );
    await storeTraits(
      trx,
      entries.flatMap((entry) => (entry.stored !== null && appearsOrEnds(entry) ? [entry.stored.seq] : [])),
    );
    await countMinted(
      trx,
      entries.filter(({ first }) => first),
      1,
    );
    await countCopies(trx, entries);
  }
}

function change(entry: Entry, copies: bigint, block: number): void {
  entry.supply += copies;
  if (copies !== 0n) entry.changedBlock = block;
}

/** Whether a token appears in its collection, or is burnt, or is there with other content than before. */
function appearsOrEnds({ stored, supply, minted, first, origin }: Entry): boolean {
  const [was, is] = [stored !== null && !first && stored.supply > 0n, minted !== null && supply > 0n];
  return was !== is || origin !== null;
}

const COLUMNS = {
  seq: "integer",
  contract: "text",
  token_id: "text",
  request_id: "text",
  supply: "text",
  token_uri: "text",
  metadata: "text",
  search_name: "text",
  minted_block: "integer",
  minted_at: "integer",
  changed_block: "integer",
  first: "integer",
  replaced: "integer",
} as const;

function rowOf(entry: Entry) {
  const content = entry.origin?.content ?? null;
  return {
    seq: entry.stored?.seq ?? null,
    contract: entry.contract,
    token_id: entry.tokenId,
    request_id: entry.requestId,
    supply: entry.supply.toString(),
    token_uri: content?.tokenUri ?? null,
    metadata: content?.metadata == null ? null : JSON.stringify(content.metadata),
    search_name: searchName(content?.metadata ?? null, entry.tokenId),
    minted_block: entry.minted?.block ?? null,
    minted_at: entry.minted?.at ?? null,
    changed_block: entry.changedBlock,
    first: entry.first ? 1 : 0,
    replaced: entry.origin === null ? 0 : 1,
  };
}

async function insertTokens(trx: Trx, entries: readonly Entry[]): Promise<void> {
  const traits = new Map<string, string[]>();
  for (const { contract, tokenId, supply, origin } of entries) {
    const keys = supply > 0n ? traitKeys(contract, origin?.content?.metadata ?? null) : [];
    if (keys.length > 0) traits.set(tokenKey({ contract, tokenId }), keys);
  }
  for (const part of inParts(entries.map(rowOf))) {
    const { rows } = await sql<{ seq: number; contract: string; token_id: string }>`
      insert into nfts (contract, token_id, request_id, supply, reserved, token_uri, metadata, search_name, minted_block, minted_at,
                        changed_block)
      select contract, token_id, request_id, supply, '0', token_uri, metadata, search_name, minted_block, minted_at,
             changed_block
        from ${rowSet(trx, COLUMNS, part)} as input order by ord returning seq, contract, token_id`.execute(trx);
    if (traits.size === 0) continue;
    const keysOf = (row: { contract: string; token_id: string }) =>
      traits.get(tokenKey({ contract: row.contract, tokenId: row.token_id })) ?? [];
    await insertTraits(
      trx,
      rows.flatMap((row) => keysOf(row).map((trait) => ({ trait, token_seq: row.seq }))),
    );
  }
}

async function updateTokens(trx: Trx, entries: readonly Entry[]): Promise<void> {
  for (const part of inParts(entries.map(rowOf))) {
    await sql`
      update nfts set supply = input.supply, changed_block = input.changed_block,
             minted_block = case when input.first = 1 then input.minted_block else nfts.minted_block end,
             minted_at = case when input.first = 1 then input.minted_at else nfts.minted_at end,
             request_id = case when input.replaced = 1 then input.request_id else nfts.request_id end,
             token_uri = case when input.replaced = 1 then input.token_uri else nfts.token_uri end,
             metadata = case when input.replaced = 1 then input.metadata else nfts.metadata end,
             search_name = case when input.replaced = 1 then input.search_name else nfts.search_name end
        from ${rowSet(trx, COLUMNS, part)} as input where nfts.seq = input.seq`.execute(trx);
  }
}

/** Counts tokens among those that their collections ever minted. @param sign -1: their first mints were dropped. */
export async function countMinted(trx: Trx, tokens: readonly { contract: string }[], sign: 1 | -1): Promise<void> {
  if (tokens.length === 0) return;
  const byContract = Map.groupBy(tokens, ({ contract }) => contract);
  const rows = [...byContract].map(([address, some]) => ({ address, count: sign * some.length }));
  await sql`
    update collections set minted = minted + input.count
      from ${rowSet(trx, { address: "text", count: "integer" }, rows)} as input
     where collections.address = input.address`.execute(trx);
}

/** The caller holds the lock of the ledger, so nobody else changes these columns. */
async function countCopies(trx: Trx, entries: readonly Entry[]): Promise<void> {
  const added = new Map<string, bigint>();
  for (const { contract, supply, stored } of entries) {
    added.set(contract, (added.get(contract) ?? 0n) + supply - (stored?.supply ?? 0n));
  }
  const changed = [...added].flatMap(([address, copies]) => (copies === 0n ? [] : [{ address }]));
  if (changed.length === 0) return;
  const { rows } = await sql<{ address: string; copies: string }>`
    select collections.address, collections.copies
      from collections join ${rowSet(trx, { address: "text" }, changed)} as input on collections.address = input.address
     where collections.copies is not null`.execute(trx);
  if (rows.length === 0) return;
  const sums = rows.map(({ address, copies }) => ({
    address,
    copies: (BigInt(copies) + (added.get(address) ?? 0n)).toString(),
  }));
  await sql`
    update collections set copies = input.copies
      from ${rowSet(trx, { address: "text", copies: "text" }, sums)} as input
     where collections.address = input.address`.execute(trx);
}
