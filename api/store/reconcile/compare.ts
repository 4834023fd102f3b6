import { type RawBuilder, sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import { addToCounters, CounterDeltas } from "../db/counters.ts";
import { parkedOf, unparkRows } from "../db/parked-rows.ts";
import type { CollectionRow, HoldingRow, NftRow, TransferRow } from "../db/schema.ts";
import { pagesAfter, rowsAfter } from "../db/pages.ts";
import { type Db, lockCollections, type Trx } from "../db/sql.ts";
import { addToHistory, type StoredMove } from "../ledger/history.ts";
import { setHoldings } from "../ledger/holding-set.ts";
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
    union all select 'deliveries:' || app_id, count(*) from deliveries group by app_id
    union all select 'holdings:' || owner, count(*) from holdings group by owner
    union all select 'holdings:' || owner || ':' || contract, count(*) from holdings group by owner, contract
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

const HISTORY_PAGE = 500;

/** A movement, with the wallets whose history contains it. */
type Entry = TransferRow & { wallets: string[] };

/**
 * Compares all histories. Listings follow the order of the rows, so a repair rewrites all rows from the first difference on,
 * in the order of the chain.
 */
export async function compareHistory(trx: Trx, chain: Db, repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  let first: Entry | null = null;
  for await (const [stored, real] of pairs(history(trx), history(chain), placeOf)) {
    if (stored !== undefined && real !== undefined && historyWords(stored) === historyWords(real)) continue;
    const entry = real ?? stored;
    if (entry === undefined) continue;
    first ??= entry;
    differences.push({
      what: `history at block ${entry.block_number.toString()}, log ${entry.log_index.toString()}`,
      stored: stored === undefined ? "nothing" : historyWords(stored),
      chain: real === undefined ? "nothing" : historyWords(real),
    });
  }
  if (repair && first !== null) await rewrite(trx, chain, first.block_number);
  return differences;
}

/** Above every index of a log: the largest value of the column, which has 32 bits. */
const LAST_LOG = 2_147_483_647;

function placeOf(entry: TransferRow): number[] {
  return [entry.block_number, entry.log_index, entry.sub_index];
}

function historyWords(entry: Entry): string {
  const { contract, token_id, type, quantity, from_address, to_address, transaction_hash, request_id, wallets } = entry;
  return [
    `${type} of ${quantity} of token ${token_id} of ${contract}`,
    `from ${from_address ?? "nobody"} to ${to_address ?? "nobody"}`,
    `in ${transaction_hash} by ${request_id ?? "no request"}`,
    `for ${wallets.join(", ")}`,
  ].join(" ");
}

function history(db: Db, fromBlock = 0): Pages<Entry> {
  return async (after) => {
    // Above every row of the block before.
    const [block = 0, log = 0, sub = 0] = after === null ? [fromBlock - 1, LAST_LOG] : placeOf(after);
    const rows = await db
      .selectFrom("transfers")
      .selectAll()
      .where(sql<boolean>`(block_number, log_index, sub_index) > (${block}, ${log}, ${sub})`)
      .orderBy("block_number")
      .orderBy("log_index")
      .orderBy("sub_index")
      .limit(HISTORY_PAGE)
      .execute();
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.id);
    const owners = await db.selectFrom("wallet_history").selectAll().where("transfer_id", "in", ids).execute();
    const byTransfer = Map.groupBy(owners, (owner) => owner.transfer_id);
    return rows.map((row) => ({ ...row, wallets: (byTransfer.get(row.id) ?? []).map((one) => one.wallet).sort() }));
  };
}

/** Does not touch the totals: `compareCounters` repairs them afterwards. */
async function rewrite(trx: Trx, chain: Db, fromBlock: number): Promise<void> {
  const dropped = trx.selectFrom("transfers").select("id").where("block_number", ">=", fromBlock);
  await trx.deleteFrom("wallet_history").where("transfer_id", "in", dropped).execute();
  await trx.deleteFrom("transfers").where("block_number", ">=", fromBlock).execute();
  for await (const page of pagesAfter(null, history(chain, fromBlock), (entry) => entry)) {
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

const TOKENS_PAGE = 1_000;

/** Compares the tokens of a collection with the chain, and repairs them. */
export async function compareTokens(trx: Trx, chain: Db, contract: string, repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  // Requests whose tokens were stored without their metadata.
  const withoutMetadata = new Set((await parkedOf(trx, "metadata")).map(({ id }) => id));
  for await (const [stored, real] of pairs(tokens(trx, contract), tokens(chain, contract), (row) => [row.token_id])) {
    const where = `token ${(real ?? stored)?.token_id ?? ""} of ${contract}`;
    if (real === undefined) {
      // A reserved id is not minted yet.
      if (stored?.minted_block == null) continue;
      differences.push({ what: where, stored: `${stored.supply} copies`, chain: "none" });
      if (repair) await removeToken(trx, stored);
    } else if (stored === undefined) {
      differences.push({ what: where, stored: "none", chain: `${real.supply} copies` });
      if (repair) await addToken(trx, real);
    } else {
      const wrong: (keyof NftRow)[] = TOKEN_COLUMNS.filter((column) => stored[column] !== real[column]);
      // The token was stored without it. Metadata that was changed since stays.
      const lacks = stored.request_id !== null && withoutMetadata.has(stored.request_id);
      if (lacks && stored.metadata === null && real.metadata !== null) wrong.push("metadata");
      if (wrong.length === 0) continue;
      differences.push({ what: where, stored: tokenWords(stored, wrong), chain: tokenWords(real, wrong) });
      if (!repair) continue;
      await repairToken(trx, stored, real, wrong.includes("metadata"));
      if (lacks && stored.request_id !== null) await unparkRows(trx, "metadata", [{ id: stored.request_id }]);
    }
  }
  return differences;
}

const TOKEN_COLUMNS = ["supply", "minted_block", "minted_at", "request_id", "token_uri"] as const;

function tokens(db: Db, contract: string) {
  return async (after: NftRow | null): Promise<NftRow[]> => {
    let query = db.selectFrom("nfts").selectAll().where("contract", "=", contract);
    if (after !== null) query = query.where("token_id", ">", after.token_id);
    return query.orderBy("token_id").limit(TOKENS_PAGE).execute();
  };
}

function withoutSeq<T extends { seq: number }>({ seq: _seq, ...row }: T): Omit<T, "seq"> {
  return row;
}

async function addToken(trx: Trx, row: NftRow): Promise<void> {
  const added = await trx.insertInto("nfts").values(withoutSeq(row)).returning("seq").executeTakeFirstOrThrow();
  await storeTraits(trx, [added.seq]);
}

async function removeToken(trx: Trx, row: NftRow): Promise<void> {
  if (row.reserved === "0") await trx.deleteFrom("nfts").where("seq", "=", row.seq).execute();
  else {
    await trx
      .updateTable("nfts")
      .set({ supply: "0", minted_block: null, minted_at: null })
      .where("seq", "=", row.seq)
      .execute();
    await storeTraits(trx, [row.seq]);
  }
}

/** Metadata belongs to the request. While the token belongs to the same request its metadata stays, edited or not. */
async function repairToken(trx: Trx, stored: NftRow, real: NftRow, lacksMetadata: boolean): Promise<void> {
  const { supply, minted_block, minted_at, changed_block, request_id, token_uri, metadata, search_name } = real;
  await trx
    .updateTable("nfts")
    .set({
      ...{ supply, minted_block, minted_at, changed_block, request_id, token_uri },
      ...(stored.request_id === request_id && !lacksMetadata ? {} : { metadata, search_name }),
    })
    .where("seq", "=", stored.seq)
    .execute();
  await storeTraits(trx, [stored.seq]);
}

function tokenWords(row: NftRow, columns: readonly (keyof NftRow)[]): string {
  return columns.map((column) => `${column} ${JSON.stringify(row[column])}`).join(", ");
}

/** Compares the holdings of a collection with the chain, and repairs them. `compareCounters` repairs the totals afterwards. */
export async function compareHoldings(trx: Trx, chain: Db, contract: string, repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  const key = (row: HoldingRow) => [row.token_id, row.owner];
  for await (const [stored, real] of pairs(holdings(trx, contract), holdings(chain, contract), key)) {
    const row = real ?? stored;
    if (row === undefined || stored?.quantity === real?.quantity) continue;
    const [has, should] = [stored?.quantity ?? "0", real?.quantity ?? "0"];
    differences.push({
      what: `copies of token ${row.token_id} of ${contract} that ${row.owner} holds`,
      stored: has,
      chain: should,
    });
    if (!repair) continue;
    const holding = { contract, tokenId: row.token_id, owner: row.owner };
    const right = { ...holding, quantity: BigInt(should), sinceBlock: row.since_block };
    await setHoldings(trx, [right], new CounterDeltas());
  }
  return differences;
}

function holdings(db: Db, contract: string) {
  return async (after: HoldingRow | null): Promise<HoldingRow[]> => {
    let query = db.selectFrom("holdings").selectAll().where("contract", "=", contract);
    if (after !== null) {
      query = query.where(sql<boolean>`(token_id, owner) > (${after.token_id}, ${after.owner})`);
    }
    return query.orderBy("token_id").orderBy("owner").limit(TOKENS_PAGE).execute();
  };
}

interface StoredForeignHolding {
  seq: number;
  contract: string;
  type: CollectionType;
  tokenId: string;
  owner: string;
  quantity: string;
}

/** Balances of wallets in foreign contracts, in row order. */
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
    .orderBy("holdings.seq")
    .limit(limit)
    .execute();
}

/** Does not touch the totals: `compareCounters` repairs them afterwards. */
export async function setForeignHolding(
  trx: Trx,
  holding: StoredForeignHolding,
  quantity: bigint,
  block: number,
): Promise<void> {
  const { contract, tokenId, owner } = holding;
  await setHoldings(trx, [{ contract, tokenId, owner, quantity, sinceBlock: block }], new CounterDeltas());
}

/** A value that differs between the database and the chain. */
export interface Difference {
  what: string;
  stored: string;
  chain: string;
}

/** Reads the rows after a row, in key order. null: from the first row. */
type Pages<Row> = (after: Row | null) => Promise<Row[]>;

type Key = (string | number)[];

/**
 * Walks two ordered sides at once, with one page of each in memory. Rows with the same key come as a pair; a row that the
 * other side lacks comes alone.
 */
async function* pairs<Row>(
  left: Pages<Row>,
  right: Pages<Row>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<[Row | undefined, Row | undefined]> {
  const rows = (pages: Pages<Row>) => rowsAfter(null, pages, (row) => row);
  const [a, b] = [rows(left), rows(right)];
  let [one, other] = [await a.next(), await b.next()];
  while (one.done !== true || other.done !== true) {
    const order = one.done === true ? 1 : other.done === true ? -1 : compareKeys(keyOf(one.value), keyOf(other.value));
    yield [order <= 0 ? one.value : undefined, order >= 0 ? other.value : undefined];
    if (order <= 0) one = await a.next();
    if (order >= 0) other = await b.next();
  }
}

/** The order of the database: numbers by value, texts (ASCII only here) by code. */
function compareKeys(a: Key, b: Key): number {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    if (other === undefined || one === other) continue;
    return one < other ? -1 : 1;
  }
  return 0;
}
