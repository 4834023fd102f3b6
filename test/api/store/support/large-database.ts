import BetterSqlite3 from "better-sqlite3";

/** Rows in each large table, for the process that calls the store. The test that fills the database says how many there are. */
export const LARGE = Number(process.env["LARGE_TABLE_ROWS"]);

/** Tables that stay small, with the reason. Every other table of the schema counts as large. */
const SMALL_TABLES: Readonly<Record<string, string>> = {
  media_collections: "one row for each block store",
  abandoned_deliveries: "at most one row for each webhook",
  api_tokens: "a few for each app",
  apps: "the operator creates them",
  console_sessions: "the operator makes the links, and old ones are deleted",
  blocks: "only headers that a reorg can still drop",
  lanes: "one for each sending key",
  leases: "a handful of jobs",
  media_leases: "a handful of jobs",
  ipfs_leases: "a handful of jobs",
  parked_rows: "rows on which the work fails are exceptions; a row is found by its key",
  media_parked_rows: "as parked_rows",
  media_store_lock: "one row",
  meta: "a handful of facts",
  other_processes: "one for each process",
  processes: "one for each API process",
  read_rates: "one for each app",
  stranger_windows: "one for each app",
  webhooks: "at most ten for each app",
  withdrawals: "the operator makes them one by one",
};

/** The app that owns the rows, and what its rows are named after. */
export const BUSY = {
  app: "busy",
  wallet: "wallet-0",
  /** An ERC721 collection. `wallet` holds its even ids. */
  collection: "collection-0",
  /** Its token `token` has many holders and a long history. */
  editions: "collection-1",
  token: "7",
  /** A contract that will be adopted, with a long past that is older than all other rows. */
  adopted: "tour-adopted",
  /** Of all requests. */
  reference: "order",
} as const;

const N = `with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)`;
/** Of two rows one belongs to a token of `collection`, the other to the token of `editions`. */
const CONTRACT = `case i % 2 when 0 then '${BUSY.collection}' else '${BUSY.editions}' end`;
const TOKEN = `case i % 2 when 0 then cast(i as text) else '${BUSY.token}' end`;

/**
 * Fills the large tables of a database, each with one statement. Half of the requests are ready, and all deliveries are
 * due: of each event its first, and two that wait for it.
 * @param rows in each large table.
 */
export function fill(file: string, rows: number): void {
  const database = new BetterSqlite3(file);
  try {
    database.pragma("synchronous = OFF");
    database.pragma("foreign_keys = OFF");
    database.pragma("cache_size = -400000");
    database.exec("begin");
    // An index that is built once costs less than one that grows row by row.
    const indexes = database.prepare("select name, sql from sqlite_master where type = 'index' and sql is not null");
    const dropped = indexes.all() as { name: string; sql: string }[];
    for (const { name } of dropped) database.exec(`drop index "${name}"`);
    for (const statement of STATEMENTS) database.exec(statement.replaceAll(":rows", rows.toString()));
    for (const { sql } of dropped) database.exec(sql);
    database.exec("commit");
  } finally {
    database.close();
  }
}

/** The tables of the schema that are not small. */
export function largeTables(file: string): { name: string; rows: number }[] {
  const database = new BetterSqlite3(file, { readonly: true });
  try {
    const named = database.prepare(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'",
    );
    const tables = (named.all() as { name: string }[]).filter(({ name }) => !(name in SMALL_TABLES));
    return tables.map(({ name }) => {
      const { rows } = database.prepare(`select count(*) as rows from "${name}"`).get() as { rows: number };
      return { name, rows };
    });
  } finally {
    database.close();
  }
}

const STATEMENTS = [
  `insert into apps (id, name, created_at) values ('${BUSY.app}', '${BUSY.app}', 1)`,
  `insert into webhooks (id, app_id, url, secrets, created_at, updated_at)
   values ('${BUSY.app}', '${BUSY.app}', 'https://busy.example/', 'sealed', 1, 1)`,
  `insert into lanes (lane, address, next_nonce, lease_fence, lease_until) values (9, 'lane-9', 0, 0, 0)`,
  `${N} insert into gas_usage (app_id, day, used) select '${BUSY.app}', i, 1 from n`,
  `${N} insert into idempotency_keys (app_id, key, fingerprint, response, created_at)
   select '${BUSY.app}', 'key-' || i, 'old:' || i, '{}', 1 from n`,
  `${N} insert into wallets (address, app_id, user_identifier, path, created_at)
   select 'wallet-' || (i - 1), '${BUSY.app}', 'user-' || i, '0/0/' || i, 1 from n`,
  `${N} insert into imported_keys (wallet, sealed, replaces_delegation, created_at) select 'wallet-' || (i - 1), 'jwe', 0, i from n`,
  `${N} insert into batches (lane, nonce, status, size, block_number, gas_used, fee_wei, cost_day, ran, created_at)
   select 9, i, 'closed', 1, i, 1, '1', 0, 1, 1 from n`,
  `${N} insert into attempts (batch_id, hash, raw, max_fee_per_gas, max_priority_fee_per_gas, gas_limit, created_at)
   select i, 'hash-' || i, '0x', '1', '1', '1', 1 from n`,
  `${N} insert into requests (id, app_id, type, status, command, reference, unlockable, ready_at, number, returns, batch_id, block_number,
                             nft_collection, nft_token_id, to_address, from_address, transaction_hash, created_at, updated_at)
   select 'request-' || i, '${BUSY.app}', 'mint', case i % 2 when 0 then 'completed' else 'pending' end,
          '{"kind":"mint-erc721","collection":"${BUSY.collection}","to":"${BUSY.wallet}","metadata":null}', '${BUSY.reference}', 'sealed',
          case i % 2 when 0 then null else 0 end, cast(i as text), 0, case i % 2 when 0 then i end,
          case i % 2 when 0 then i end, '${BUSY.collection}', cast(i as text), '${BUSY.wallet}', case i % 3 when 0 then '${BUSY.wallet}' else 'other' end, case i % 2 when 0 then 'hash-' || (i / 500) end, 1, 1
     from n`,
  `${N} insert into batch_items (batch_id, position, request_id, weight) select i, 0, 'request-' || i, 1 from n`,
  `${N} insert into collections (address, app_id, request_id, type, hosting, soulbound, name, symbol, minted, reserved, owner, metadata,
                           service_may_mint, service_is_steward, metadata_frozen, listed, block_number, created_at)
   select 'collection-' || (i - 1), '${BUSY.app}', 'request-' || i, case i when 2 then 'ERC1155' else 'ERC721' end, 'hosted', 0,
          'c', 'c', 0, 0, 'owner', '{}', 1, 1, 0, 1, 1, 1 from n`,
  `${N} insert into foreign_contracts (address, type, state, due_at, failures, quarantines, window_from, window_logs, created_at)
   select 'foreign-' || i, 'ERC721', 'followed', null, 0, 0, 0, 0, 1 from n`,
  `${N} insert into minting (contract, mint_function, code_hash, owner, created_at)
   select 'foreign-' || i, 'safeMint({to:address})', '0x', 'owner', 1 from n`,
  `${N} insert into contract_follows (app_id, address, followed_from, created_at)
   select '${BUSY.app}', 'foreign-' || i, 1, 1 from n`,
  `${N} insert into contract_reads (contract, owner, app_id, search, complete_to, due_at, tries, fence)
   select 'foreign-' || i, '${BUSY.wallet}', '${BUSY.app}', 2, 1, null, 0, 0 from n`,
  `${N} insert into nfts (contract, token_id, request_id, supply, reserved, metadata, search_name, minted_block, minted_at)
   select '${BUSY.collection}', i, 'request-' || i, '1', '0', '{}', 'user-' || i, i, 1 from n`,
  `insert into token_traits (trait, token_seq) select 'trait-' || (seq % 2), seq from nfts`,
  `insert into nfts (contract, token_id, supply, reserved, minted_block, minted_at)
   values ('${BUSY.editions}', '${BUSY.token}', ':rows', '0', 1, 1)`,
  `${N} insert into holdings (contract, token_id, owner, quantity, reserved, since_block)
   select ${CONTRACT}, ${TOKEN}, case i % 2 when 0 then '${BUSY.wallet}' else 'holder-' || i end, '1', '0', i from n`,
  `${N} insert into transfers (contract, token_id, type, quantity, to_address, transaction_hash, block_number, log_index,
                              sub_index, timestamp, request_id)
   select ${CONTRACT}, ${TOKEN}, 'mint', '1', '${BUSY.wallet}', 'hash-' || i, i, 0, 0, 1, 'request-' || i from n`,
  `insert into wallet_history (wallet, transfer_id) select '${BUSY.wallet}', id from transfers`,
  `insert into counters (key, slot, value) select 'events:filled-' || id, 0, 1 from transfers`,
  `insert into counters (key, slot, value) values ('events:${BUSY.app}', 0, :rows)`,
  `${N} insert into transfers (contract, token_id, type, quantity, to_address, transaction_hash, block_number, log_index,
                              sub_index, timestamp)
   select '${BUSY.adopted}', i, 'mint', '1', 'stranger', 'past-' || i, -i, 0, 0, 1 from n`,
  `${N} insert into media (cid, type, size, created_at) select 'cid-' || i, 'image/png', 1, 1 from n`,
  `${N} insert into app_media (cid, app_id, size) select 'cid-' || i, '${BUSY.app}', 1 from n`,
  `${N} insert into media_results (request_id, result) select 'request-' || (i + 1000), '{}' from n`,
  `${N} insert into forgotten_media (cid) select 'gone-' || i from n`,
  `${N} insert into media_jobs (request_id, app_id, due_at, tries, fence) select 'request-' || i, '${BUSY.app}', 0, 0, 0 from n`,
  `${N} insert into pins (cid, hosted, due_at, tries, fence, error, created_at)
   select 'cid-' || i, 1, case i % 2 when 0 then null else 0 end, 0, 0, null, 1 from n`,
  `${N} insert into rate_counts (key, used, ends_at) select 'token:' || i, 1, 60000 + i from n`,
  `${N} insert into media_blocks (store, cid, object, size, stored_at, quarantine)
   select 'database', 'cid-' || i, 'filled-' || i, 1, 1, case i % 1000 when 0 then 'old' end from n`,
  `${N} insert into media_bytes (object, bytes) select 'filled-' || i, x'00' from n`,
  `${N} insert into media_unused_objects (store, object, doomed, created_at)
   select 'database', 'unused-' || i, 0, :rows + i from n`,
  `${N} insert into announcements (cid, due_at) select 'cid-' || i, 0 from n`,
  `${N} insert into chain_edits (contract, token_id, "column", previous, block_number)
   select '${BUSY.collection}', null, 'owner', '"owner"', i from n`,
  `${N} insert into uncertain_holdings (contract, token_id, owner, block) select 'foreign-' || i, '1', '${BUSY.wallet}', 1 from n`,
  `${N} insert into events (id, app_id, position, request_id, type, body, created_at)
   select 'event-' || i, '${BUSY.app}', i, 'request-' || ((i + 2) / 3),
          case i % 3 when 0 then 'sent' when 1 then 'in_block' else 'dropped' end, '{}', 1 from n`,
  `insert into deliveries (id, event_seq, app_id, webhook_id, request_id, subject, status, tries, next_at, created_at, updated_at)
   select 'delivery-' || seq, seq, app_id, app_id, request_id, request_id, 'pending', 0, 0, 1, 1 from events`,
];
