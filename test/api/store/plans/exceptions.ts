/** What a statement may do although others may not. */
export type Liberty = "scan" | "sort" | "slow";

interface Exception {
  statement: RegExp;
  liberties: readonly Liberty[];
  because: string;
}

/** Statements that may read many rows, each with the reason. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    statement: /from \(select gas_used from batches order by id desc limit \?\) as newest/,
    liberties: ["scan"],
    because: "the newest batches, up to a limit, in the order of the table",
  },
  {
    statement: /select count\(\*\) from \(select 1 from deliveries where status = 'pending' limit/,
    liberties: ["scan"],
    because: "the operator's overview stops counting at a limit",
  },
  {
    statement: /with recursive owner \(id\)/,
    liberties: ["sort"],
    because: "the queue stops at its limit, so no more rows are sorted",
  },
  {
    statement: /^update deliveries set webhook_id = app_id, subject = request_id$/,
    liberties: ["scan", "slow"],
    because: "a migration changes each delivery once",
  },
  {
    statement: /from "collections" where "adopted" = 1 order by "address" limit \?$/,
    liberties: ["scan"],
    because: "the first adopted contracts, in the order of an index of only these",
  },
  {
    statement: /select count\(\*\) as count, .* from imported_keys$/,
    liberties: ["scan", "slow"],
    because: "backup and doctor count the keys that the operator has imported, by an index",
  },
  {
    statement: /^update minting set stopped = \? where stopped is null/,
    liberties: ["scan", "slow"],
    because: "after a restore, `reconcile` stops minting into all adopted contracts once",
  },
  {
    statement: /jsonb_each/,
    liberties: ["sort"],
    because: "the set is in memory already; it is sorted in the order of its keys",
  },
  {
    statement: /^select ("seq" from "requests"|"cid" from "pins" where "hosted" = \?) limit/,
    liberties: ["scan"],
    because: "one row is enough",
  },
  {
    statement: /select 1 as found where exists \(select 1 from requests where outcome is not null\)/,
    liberties: ["scan"],
    because: "one row of each partial index is enough, and these have only rows that wait",
  },
  {
    statement: /from "(wallets|requests)" (where "unlockable" is not null )?order by "seq" (desc )?limit/,
    liberties: ["scan"],
    because: "doctor: a sample of the first or the last rows",
  },
  {
    statement: /select failed\.event_seq, .* from \(select \* from deliveries/,
    liberties: ["sort"],
    because: "the newest failed deliveries, up to a limit, are sorted the other way round",
  },
  {
    statement: /^select \* from "collections" where "seq" in \(select "seq" from \(select "seq" from "collections"/,
    liberties: ["sort"],
    because: "of the collections whose name and whose symbol begin with a text, at most one page each is sorted",
  },
  {
    statement: /"seq" in \(select "seq" from \(select "seq" from "requests" as "newest"/,
    liberties: ["sort", "slow"],
    because: "the requests from a wallet and those to it are two ranges of an index, each with a limit",
  },
  {
    statement: /^update requests set (from_address = .*, )?to_address = case when json_valid/,
    liberties: ["scan", "slow"],
    because: "once, when a database of an earlier version is migrated",
  },
  {
    statement: /^ *update requests set (quantity = case|copies_media = 1 where type|corrected = 1 where id in)/,
    liberties: ["scan", "slow"],
    because: "once, when a database of an earlier version is migrated",
  },
  {
    statement: /^update collections set copies = '0' where type/,
    liberties: ["scan", "slow"],
    because: "once, when a database of an earlier version is migrated",
  },
  {
    statement: /select "seq", "address", "type" from "collections" where "seq" > \?/,
    liberties: ["slow"],
    because: "the indexer reads all collections when it starts, and later only new ones",
  },
  {
    statement:
      /from contract_follows as follow join foreign_contracts .* and (contract.state = 'followed'|collection.address is null)/,
    liberties: ["scan", "slow"],
    because: "the indexer reads the followed contracts when they change; their number is limited for each app",
  },
  {
    statement: /count\(\*\) from foreign_contracts where state = 'followed'/,
    liberties: ["scan", "slow"],
    because: "doctor: followed contracts are few",
  },
  {
    statement: /^update "(foreign_contracts|contract_follows)" set "(as_of|followed_from)"/,
    liberties: ["scan", "slow"],
    because: "once for each reorg, and the followed contracts are few",
  },
  {
    statement: /^delete from "(events" where "app_id|contract_follows" where "app_id|apps" where "id)"/,
    liberties: ["scan", "slow"],
    because: "`app remove`, for an app without requests: it has few test events and follows at most",
  },
  {
    statement: /^select count\(\*\) as "count" from "idempotency_keys"/,
    liberties: ["scan", "slow"],
    because: "`keys rotate` counts once, at its end",
  },
  {
    statement: /^select count\(\*\) as "count", min\("created_at"\) as "oldest" from "pins"/,
    liberties: ["scan", "slow"],
    because: "doctor counts everything that waits",
  },
  {
    statement: /^ *with real as/,
    liberties: ["scan", "sort", "slow"],
    because: "reconcile counts the rows of every total",
  },
  {
    statement: /from batches where status = 'closed' and fee_wei is null order by id desc limit/,
    liberties: ["scan", "sort"],
    because: "at most 50 batches without a cost, from their index; the attempts of each are sorted",
  },
  {
    statement: /from "batches" where "status" = 'open'( order by "lane", "nonce")?$/,
    liberties: ["scan"],
    because: "only batches that no block contains are in the index",
  },
  {
    statement: /^select distinct "request_id" from "events" where "type" = 'corrected'/,
    liberties: ["sort"],
    because: "doctor: corrected outcomes are rare",
  },
  {
    statement: /from "media_results" as job join requests on requests\.id = job\.request_id order by job\.seq limit 1/,
    liberties: ["scan"],
    because: "one row of each table is enough",
  },
  {
    statement: /from media_results where not exists .* order by seq limit/,
    liberties: ["scan"],
    because: "the first rows that are not parked, and a parked row is an exception",
  },
  {
    statement: /select "?cid"? from "?forgotten_media"? (order by cid )?limit/,
    liberties: ["scan"],
    because: "the first rows, in the order of their key",
  },
  {
    statement: /^ *select cast\(coalesce\(sum\(freed\)/,
    liberties: ["slow"],
    because: "`prune --dry-run` counts everything that is old",
  },
  {
    statement: /from "holdings" inner join "foreign_contracts"/,
    liberties: ["slow"],
    because: "reconcile passes over the holdings of the service's own collections",
  },
];
