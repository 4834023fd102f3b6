import BetterSqlite3 from "better-sqlite3";

/** Rows in each large table. SQLite has no statistics here, so its plans are the same for any number. */
export const LARGE = 50_000;

/** The tables that grow with use. */
export const LARGE_TABLES = [
  "requests",
  "events",
  "deliveries",
  "transfers",
  "wallet_history",
  "nfts",
  "holdings",
  "batch_items",
  "attempts",
  "batches",
  "wallets",
  "counters",
] as const;

/** The app that owns the rows, one of its wallets, and one of its collections. */
export const BUSY = { app: "busy", wallet: "wallet-0", collection: "collection-0" } as const;

const N = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${LARGE.toString()})`;

/**
 * Fills the large tables of a database, each with one statement. Half of the requests are ready, and all deliveries are
 * due: the first of each request, and two that wait for it.
 */
export function fill(file: string): void {
  const database = new BetterSqlite3(file);
  try {
    database.pragma("synchronous = OFF");
    database.pragma("cache_size = -200000");
    database.exec("begin");
    for (const statement of STATEMENTS) database.exec(statement);
    database.exec("commit");
  } finally {
    database.close();
  }
}

const STATEMENTS = [
  `insert into apps (id, name, created_at) values ('${BUSY.app}', '${BUSY.app}', 1)`,
  `insert into webhooks (app_id, url, secrets, created_at, updated_at)
   values ('${BUSY.app}', 'https://busy.example/', 'sealed', 1, 1)`,
  `insert into lanes (lane, address, next_nonce, lease_fence, lease_until) values (0, 'lane-0', 0, 0, 0)`,
  `${N} insert into wallets (address, app_id, user_identifier, path, created_at)
   select 'wallet-' || (i - 1), '${BUSY.app}', 'user-' || i, '0/0/' || i, 1 from n`,
  `${N} insert into batches (lane, nonce, status, size, block_number, created_at) select 0, i, 'closed', 1, i, 1 from n`,
  `${N} insert into attempts (batch_id, hash, raw, max_fee_per_gas, max_priority_fee_per_gas, gas_limit, created_at)
   select i, 'hash-' || i, '0x', '1', '1', '1', 1 from n`,
  `${N} insert into requests (id, app_id, type, status, command, ready_at, returns, batch_id, block_number, outcome,
                             created_at, updated_at)
   select 'request-' || i, '${BUSY.app}', 'mint', case i % 2 when 0 then 'completed' else 'pending' end,
          '{"kind":"mint-erc721","collection":"${BUSY.collection}","to":"${BUSY.wallet}","metadata":null}',
          case i % 2 when 0 then null else 0 end, 0, case i % 2 when 0 then i end, case i % 2 when 0 then i end, null, 1, 1
     from n`,
  `${N} insert into batch_items (batch_id, position, request_id) select i, 0, 'request-' || i from n`,
  `insert into collections (address, app_id, request_id, type, hosting, name, symbol, minted, reserved, owner, metadata,
                           service_may_mint, service_is_steward, metadata_frozen, listed, block_number, created_at)
   values ('${BUSY.collection}', '${BUSY.app}', 'request-2', 'ERC721', 'hosted', 'c', 'c', 0, 0, 'owner', '{}', 1, 1, 0, 1, 1, 1)`,
  `${N} insert into nfts (contract, token_id, request_id, supply, reserved, minted_block, minted_at)
   select '${BUSY.collection}', i, 'request-' || i, '1', '0', i, 1 from n`,
  `${N} insert into holdings (contract, token_id, owner, quantity, reserved, since_block)
   select '${BUSY.collection}', i, '${BUSY.wallet}', '1', '0', i from n`,
  `${N} insert into transfers (contract, token_id, type, quantity, to_address, transaction_hash, block_number, log_index,
                              sub_index, timestamp, request_id)
   select '${BUSY.collection}', i, 'mint', '1', '${BUSY.wallet}', 'hash-' || i, i, 0, 0, 1, 'request-' || i from n`,
  `insert into wallet_history (wallet, transfer_id) select '${BUSY.wallet}', id from transfers`,
  `insert into counters (key, slot, value) select 'filled:' || id, 0, 1 from transfers`,
  `${N} insert into events (id, app_id, position, request_id, type, body, created_at)
   select 'event-' || i, '${BUSY.app}', i, 'request-' || ((i + 2) / 3),
          case i % 3 when 1 then 'accepted' when 2 then 'sent' else 'completed' end, '{}', 1 from n`,
  `insert into deliveries (id, event_seq, app_id, request_id, status, tries, next_at, created_at, updated_at)
   select 'delivery-' || seq, seq, app_id, request_id, 'pending', 0, 0, 1, 1 from events`,
];
