import { type RawBuilder, sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { addToCounters, CounterDeltas } from "../db/counters.ts";
import { parkedOf, unparkRows } from "../db/parked-rows.ts";
import type { CollectionRow, HoldingRow, NftRow, TransferRow } from "../db/schema.ts";
import { pagesAfter, rowsAfter } from "../db/pages.ts";
import { type Db, lockCollections, textSet, type Trx } from "../db/sql.ts";
import { addToHistory, type StoredMove } from "../ledger/history.ts";
import { setHoldings } from "../ledger/holding-set.ts";
import { adoptedAmong } from "../ledger/indexed-contracts.ts";
import { unlistedAmong } from "../ledger/listed-holdings.ts";
import { storeTraits } from "../listings/search.ts";
import { FREEZING } from "../requests/freezing.ts";

const COLLECTION_COLUMNS = [
  "minted",
  "copies",
  "metadata_frozen",
  "royalty_frozen",
  "max_supply",
  "base_uri",
  "service_may_mint",
  "service_is_steward",
  "owner",
] as const;

/**
 * Compares a collection's minted count and what its owner can change, and repairs it. Locks the collection, so that no mint is
 * accepted while its tokens are compared. @param owner as the contract reports it.
 */
export async function compareCollection(
  trx: Trx,
  chain: Db,
  address: string,
  owner: string | null,
  repair: boolean,
): Promise<Difference[]> {
  await lockCollections(trx, [address]);
  const [stored, replayed] = [await collectionAt(trx, address), await collectionAt(chain, address)];
  if (stored === undefined || replayed === undefined) return [];
  const real = {
    ...replayed,
    owner: owner ?? stored.owner,
    // An accepted freeze that is not on chain stays accepted.
    metadata_frozen: Math.max(replayed.metadata_frozen, stored.metadata_frozen === FREEZING ? FREEZING : 0),
  };
  const wrong = COLLECTION_COLUMNS.filter((column) => stored[column] !== real[column]);
  if (wrong.length === 0) return [];
  if (repair) {
    const change = Object.fromEntries(wrong.map((column) => [column, real[column]]));
    await trx.updateTable("collections").set(change).where("address", "=", address).execute();
  }
  // A `royalty_frozen` that no version has stored yet is filled in, but not reported as a difference.
  const listed = wrong.filter((column) => column !== "royalty_frozen" || stored.royalty_frozen !== null);
  return listed.map((column) => ({
    what: `${column} of collection ${address}`,
    stored: String(stored[column]),
    chain: String(real[column]),
  }));
}

function collectionAt(db: Db, address: string): Promise<CollectionRow | undefined> {
  return db.selectFrom("collections").selectAll().where("address", "=", address).executeTakeFirst();
}

/** The totals of all listings, counted from their rows. The keys are those of `counterKeys`. */
function counted(): RawBuilder<unknown> {
  return sql`
    select 'wallets:' || app_id as key, count(*) as value from wallets group by app_id
    union all select 'collections:' || app_id, count(*) from collections where listed = 1 group by app_id
    union all select 'contracts:' || app_id, count(*) from contract_follows where ended_at is null group by app_id
    union all select 'requests:' || app_id || ':' || status || ':' || type, count(*) from requests group by app_id, status, type
    union all select 'backlog', count(*) from (${backlog()}) as backlog
    union all select 'backlog:' || app_id, count(*) from (${backlog()}) as backlog group by app_id
    union all select 'processing', count(*) from requests where status = 'processing'
    union all select 'media', count(*) from media_jobs
    union all select 'media:' || app_id, count(*) from media_jobs group by app_id
    union all select 'media-bytes:' || app_id, cast(sum(size) as bigint) from app_media group by app_id
    union all select 'stored-bytes:' || app_id, cast(sum(stored_bytes) as bigint) from requests where status <> 'failed' group by app_id
    union all select 'deliveries:' || webhook_id, count(*) from deliveries group by webhook_id
    union all select 'holdings:' || owner, count(*) from holdings where unlisted = 0 group by owner
    union all select 'holdings:' || owner || ':' || contract, count(*) from holdings where unlisted = 0 group by owner, contract
    union all select 'owners:' || contract || ':' || token_id, count(*) from holdings group by contract, token_id
    union all select 'nfts:' || contract, count(*) from nfts where minted_block is not null and supply <> '0' group by contract
    union all select 'history:' || wallet, count(*) from wallet_history group by wallet
    union all select 'history:' || contract || ':' || token_id, count(*) from transfers group by contract, token_id`;
}

/** Requests that are not final and do not wait for content. */
function backlog(): RawBuilder<unknown> {
  return sql`
    select app_id from requests where status in ('pending', 'processing')
       and not exists (select 1 from media_jobs where media_jobs.request_id = requests.id)`;
}

/** Counters that are not a number of rows: a position in a feed is never used twice, the others are sums over time. */
const [FEEDS, USAGE, SERIES] = ["events:%", "usage:%", "series:%"];

/** Compares the totals of all listings with their rows, and repairs them. */
export async function compareCounters(trx: Trx, repair: boolean): Promise<Difference[]> {
  const { rows } = await sql<{ key: string; stored: number | null; counted: number | string }>`
    with real as (${counted()}),
         counter as (select key, cast(sum(value) as bigint) as value from counters group by key)
    select real.key as key, counter.value as stored, real.value as counted
      from real left join counter on counter.key = real.key
      where real.value <> coalesce(counter.value, 0)
    union all
    select counter.key, counter.value, 0 from counter
      where counter.value <> 0 and counter.key not like ${FEEDS} and counter.key not like ${USAGE}
        and counter.key not like ${SERIES}
        and counter.key not in (select key from real)
  `.execute(trx);
  if (repair) {
    await addToCounters(
      trx,
      new Map(rows.map(({ key, stored, counted: value }) => [key, Number(value) - (stored ?? 0)])),
    );
  }
  return rows.map(({ key, stored, counted: value }) => ({
    what: `the total ${key}`,
    stored: String(stored ?? "none"),
    chain: String(value),
  }));
}

/** A table of the ledger, whose rows both databases have in the order of a key. */
interface Compared<Row> {
  key: readonly (keyof Row & string)[];
  read: (db: Db, after: Row | null) => Promise<Row[]>;
  what: (row: Row) => string;
  /** Both sides of a row in words: it differs if these do. */
  words: (stored: Row | undefined, real: Row | undefined) => [stored: string, chain: string];
  /** Absent: nothing is repaired. */
  repair: ((stored: Row | undefined, real: Row | undefined) => Promise<void> | void) | null;
}

/** Walks both databases at once, with one page of each in memory. */
async function compareRows<Row>(
  trx: Trx,
  chain: Db,
  { key, read, what, words, repair }: Compared<Row>,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const rowsOf = (db: Db) =>
    rowsAfter<Row, Row | null>(
      null,
      (after) => read(db, after),
      (row) => row,
    );
  const [left, right] = [rowsOf(trx), rowsOf(chain)];
  let [one, other] = [(await left.next()).value, (await right.next()).value];
  for (let row = one ?? other; row !== undefined; row = one ?? other) {
    const order = one === undefined ? 1 : other === undefined ? -1 : compareKeys(one, other, key);
    const [stored, real] = [order <= 0 ? one : undefined, order >= 0 ? other : undefined];
    const [has, should] = words(stored, real);
    if (has !== should) {
      differences.push({ what: what(real ?? stored ?? row), stored: has, chain: should });
      await repair?.(stored, real);
    }
    if (order <= 0) one = (await left.next()).value;
    if (order >= 0) other = (await right.next()).value;
  }
  return differences;
}

/** The order of the database: numbers by value, texts (ASCII only here) by code. */
function compareKeys<Row>(a: Row, b: Row, key: readonly (keyof Row)[]): number {
  const column = key.find((each) => a[each] !== b[each]);
  return column === undefined ? 0 : a[column] < b[column] ? -1 : 1;
}

const PAGE = 500;

/** Reads the rows of a table after a key. */
async function readPage<Row>(
  db: Db,
  table: RawBuilder<unknown>,
  key: readonly string[],
  after: readonly unknown[],
): Promise<Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { rows } = await sql<Row>`
    select * from ${table} and (${columns}) > (${sql.join(after)}) order by ${columns} limit ${PAGE}`.execute(db);
  return rows;
}

/** A movement, with the wallets whose history contains it. */
type Entry = TransferRow & { wallets: string[] };

const PLACE = ["block_number", "log_index", "sub_index"] as const;

/**
 * Compares all histories. Listings follow the order of the rows, so a repair rewrites all rows from the first difference on,
 * in the order of the chain.
 */
export async function compareHistory(trx: Trx, chain: Db, repair: boolean): Promise<Difference[]> {
  let first = Infinity;
  const differences = await compareRows<Entry>(trx, chain, {
    key: PLACE,
    read: async (db, after) => withoutNamed(trx, await history(db, after)),
    what: (entry) => `history at block ${entry.block_number.toString()}, log ${entry.log_index.toString()}`,
    words: (stored, real) => [historyWords(stored), historyWords(real)],
    repair: (stored, real) => {
      first = Math.min(first, (real ?? stored)?.block_number ?? first);
    },
  });
  if (repair && first < Infinity) await rewrite(trx, chain, first);
  return differences;
}

function historyWords(entry: Entry | undefined): string {
  if (entry === undefined) return "nothing";
  const { contract, token_id, type, quantity, from_address, to_address, transaction_hash, request_id, wallets } = entry;
  return [
    `${type} of ${quantity} of token ${token_id} of ${contract}`,
    `from ${from_address ?? "nobody"} to ${to_address ?? "nobody"}`,
    `in ${transaction_hash} by ${request_id ?? "no request"}`,
    `for ${wallets.join(", ")}`,
  ].join(" ");
}

/** The past of adopted contracts is older than the service, so it is not read again. */
const NOT_ADOPTED = sql<boolean>`not exists (
  select 1 from collections where collections.address = transfers.contract and collections.adopted = 1)`;

/** @param after null: the first row of `fromBlock`. */
async function history(db: Db, after: Entry | null, fromBlock = 0): Promise<Entry[]> {
  const place = after === null ? [fromBlock, -1, 0] : PLACE.map((column) => after[column]);
  const rows = await readPage<TransferRow>(db, sql`transfers where ${NOT_ADOPTED}`, PLACE, place);
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const owners = await db.selectFrom("wallet_history").selectAll().where("transfer_id", "in", ids).execute();
  const byTransfer = Map.groupBy(owners, (owner) => owner.transfer_id);
  return rows.map((row) => ({ ...row, wallets: (byTransfer.get(row.id) ?? []).map((one) => one.wallet).sort() }));
}

/** The history of a watch-only or imported wallet begins when it was named. No block says when that was. */
async function withoutNamed(trx: Trx, entries: Entry[]): Promise<Entry[]> {
  const owners = entries.flatMap(({ wallets }) => wallets);
  const { rows } = await sql<{ address: string }>`
    select address from wallets where path = '' and address in ${textSet(trx, owners)}`.execute(trx);
  const left = new Set(rows.map(({ address }) => address));
  return entries.map((entry) => ({ ...entry, wallets: entry.wallets.filter((wallet) => !left.has(wallet)) }));
}

/** Does not touch the totals: `compareCounters` repairs them afterwards. */
async function rewrite(trx: Trx, chain: Db, fromBlock: number): Promise<void> {
  const dropped = trx.selectFrom("transfers").select("id").where("block_number", ">=", fromBlock).where(NOT_ADOPTED);
  await trx.deleteFrom("wallet_history").where("transfer_id", "in", dropped).execute();
  await trx.deleteFrom("transfers").where("block_number", ">=", fromBlock).where(NOT_ADOPTED).execute();
  const read = (after: Entry | null) => history(chain, after, fromBlock);
  for await (const page of pagesAfter<Entry, Entry | null>(null, read, (entry) => entry)) {
    const wallets = new Set(page.flatMap((entry) => entry.wallets));
    await addToHistory(trx, page.map(moveOf), wallets, new CounterDeltas());
  }
}

function moveOf(entry: TransferRow): StoredMove {
  return {
    contract: entry.contract,
    tokenId: entry.token_id,
    quantity: entry.quantity,
    from: entry.from_address,
    to: entry.to_address,
    transactionHash: entry.transaction_hash,
    blockNumber: entry.block_number,
    logIndex: entry.log_index,
    subIndex: entry.sub_index,
    timestamp: entry.timestamp,
    requestId: entry.request_id,
  };
}

/** Compares the tokens of a collection with the chain, and repairs them. */
export async function compareTokens(trx: Trx, chain: Db, contract: string, repair: boolean): Promise<Difference[]> {
  // Requests whose tokens were stored without their metadata. What was changed since stays.
  const withoutMetadata = new Set((await parkedOf(trx, "metadata")).map(({ id }) => id));
  const isParked = ({ request_id: id }: NftRow) => id !== null && withoutMetadata.has(id);
  const lacks = (stored: NftRow | undefined, real: NftRow | undefined) =>
    stored?.metadata === null && real !== undefined && real.metadata !== null && isParked(stored);
  const repairToken = async (stored: NftRow | undefined, real: NftRow | undefined) => {
    if (stored === undefined) return real === undefined ? undefined : addToken(trx, real);
    if (real === undefined) return removeToken(trx, stored);
    const { supply, minted_block, minted_at, changed_block, request_id, token_uri, metadata, search_name } = real;
    // Metadata belongs to the request. While the token belongs to the same request it stays, edited or not.
    const content = stored.request_id !== request_id || lacks(stored, real) ? { metadata, search_name } : {};
    const ofChain = { supply, minted_block, minted_at, changed_block, request_id, token_uri };
    await updateToken(trx, stored.seq, { ...ofChain, ...content });
    if (isParked(stored)) await unparkRows(trx, "metadata", [{ id: stored.request_id ?? "" }]);
  };
  return compareRows<NftRow>(trx, chain, {
    key: ["token_id"],
    read: (db, after) =>
      readPage(db, sql`nfts where contract = ${contract}`, ["token_id"], [after === null ? "" : after.token_id]),
    what: (row) => `token ${row.token_id} of ${contract}`,
    words: (stored, real) => [
      `${tokenWords(stored)}${lacks(stored, real) ? ", without its metadata" : ""}`,
      tokenWords(real),
    ],
    repair: repair ? repairToken : null,
  });
}

/** A reserved id is not minted yet. */
function tokenWords(row: NftRow | undefined): string {
  if (row?.minted_block == null) return "none";
  const columns = ["supply", "minted_block", "minted_at", "request_id", "token_uri"] as const;
  return columns.map((column) => `${column} ${JSON.stringify(row[column])}`).join(", ");
}

async function addToken(trx: Trx, { seq: _seq, ...row }: NftRow): Promise<void> {
  const added = await trx.insertInto("nfts").values(row).returning("seq").executeTakeFirstOrThrow();
  await storeTraits(trx, [added.seq]);
}

async function removeToken(trx: Trx, { seq, reserved }: NftRow): Promise<void> {
  if (reserved === "0") await trx.deleteFrom("nfts").where("seq", "=", seq).execute();
  else await updateToken(trx, seq, { supply: "0", minted_block: null, minted_at: null });
}

async function updateToken(trx: Trx, seq: number, values: Partial<NftRow>): Promise<void> {
  await trx.updateTable("nfts").set(values).where("seq", "=", seq).execute();
  await storeTraits(trx, [seq]);
}

/** Compares the holdings of a collection with the chain, and repairs them. `compareCounters` repairs the totals afterwards. */
export function compareHoldings(trx: Trx, chain: Db, contract: string, repair: boolean): Promise<Difference[]> {
  const key = ["token_id", "owner"] as const;
  const repairHolding = async (stored: HoldingRow | undefined, real: HoldingRow | undefined) => {
    const row = real ?? stored;
    if (row === undefined) return;
    const { token_id: tokenId, owner, since_block: block } = row;
    await setHolding(trx, { contract, tokenId, owner }, BigInt(real?.quantity ?? "0"), block);
  };
  return compareRows<HoldingRow>(trx, chain, {
    key,
    read: (db, after) =>
      readPage(
        db,
        sql`holdings where contract = ${contract}`,
        key,
        after === null ? ["", ""] : key.map((one) => after[one]),
      ),
    what: (row) => `copies of token ${row.token_id} of ${contract} that ${row.owner} holds`,
    words: (stored, real) => [stored?.quantity ?? "0", real?.quantity ?? "0"],
    repair: repair ? repairHolding : null,
  });
}

interface StoredForeignHolding {
  /** The place in the order of its source. */
  seq: number;
  contract: string;
  type: CollectionType;
  tokenId: string;
  owner: string;
  quantity: string;
}

/** Balances in foreign contracts, in row order. Those of an adopted contract are older than its balances until its past is read. */
export async function foreignHoldings(db: Db, after: number, limit: number): Promise<StoredForeignHolding[]> {
  return db
    .selectFrom("holdings")
    .innerJoin("foreign_contracts", "foreign_contracts.address", "holdings.contract")
    .select([
      "holdings.seq as seq",
      "holdings.contract as contract",
      "foreign_contracts.type as type",
      "holdings.token_id as tokenId",
      "holdings.owner as owner",
      "holdings.quantity as quantity",
    ])
    .where("foreign_contracts.type", "is not", null)
    .$narrowType<{ type: CollectionType }>()
    .where("holdings.seq", ">", after)
    .where(
      sql<boolean>`(foreign_contracts.as_of is null or not exists (
        select 1 from collections where collections.address = holdings.contract))`,
    )
    .orderBy("holdings.seq")
    .limit(limit)
    .execute();
}

/**
 * Whoever got tokens of an adopted contract, and holds none of them now: of ERC721, those of tokens that nobody holds. It goes through
 * the whole history, so the same holder may come again; entries that are of nobody like this have the owner "".
 */
export async function formerHoldings(db: Db, after: number, limit: number): Promise<StoredForeignHolding[]> {
  const { rows } = await sql<StoredForeignHolding>`
    select move.id as seq, move.contract, contract.type, move.token_id as "tokenId", '0' as quantity,
           case when collection.seq is null or contract.address is null or exists (
                  select 1 from holdings
                   where holdings.contract = move.contract and holdings.token_id = move.token_id
                     and (contract.type = 'ERC721' or holdings.owner = move.to_address))
                then '' else coalesce(move.to_address, '') end as owner
      from (select * from transfers where id > ${after} order by id limit ${limit}) as move
      left join collections as collection on collection.address = move.contract and collection.adopted = 1
      left join foreign_contracts as contract on contract.address = move.contract and contract.as_of is null
     order by move.id`.execute(db);
  return rows;
}

/** Does not touch the totals: `compareCounters` repairs them afterwards. */
export async function setHolding(
  trx: Trx,
  { contract, tokenId, owner }: HoldingKey,
  quantity: bigint,
  sinceBlock: number,
) {
  const holding = { contract, tokenId, owner, quantity, sinceBlock };
  const isAdopted = (await adoptedAmong(trx, [contract])).size > 0;
  await setHoldings(trx, [holding], new CounterDeltas(), await unlistedAmong(trx, isAdopted ? [holding] : []));
}

/** A value that differs between the database and the chain. */
export interface Difference {
  what: string;
  stored: string;
  chain: string;
}
