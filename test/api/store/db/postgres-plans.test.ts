import { expect } from "chai";
import { sql } from "kysely";
import pg from "pg";

import { findStoredAnswers } from "../../../../api/store/apps/idempotency.ts";
import { findWallets, listWallets, searchWallets, walletApps } from "../../../../api/store/apps/wallets.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { HoldingSet } from "../../../../api/store/ledger/holding-set.ts";
import { heldAmong } from "../../../../api/store/listings/holdings.ts";
import { listDeliveries, recordTries } from "../../../../api/store/outbox/deliveries.ts";
import { putOffDeliveries } from "../../../../api/store/outbox/due-deliveries.ts";
import { eventsAfter, feedPages, newestPositions } from "../../../../api/store/outbox/feed.ts";
import { listNfts, listSomeNfts, searchNfts } from "../../../../api/store/listings/nfts.ts";
import { findRequests, listRequests, requestsByNumber } from "../../../../api/store/requests/requests.ts";
import { settleFinal } from "../../../../api/store/requests/settle-final.ts";
import {
  claimRequests,
  countReady,
  returnAbandonedClaims,
  returnUnsent,
} from "../../../../api/store/sending/claims.ts";
import { ensureLane, hasBegun, takeLease } from "../../../../api/store/sending/lanes.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { describeOn } from "../../../support/engine.ts";
import { addApp } from "../../support/rows.ts";
import { takeDueDeliveries, taker } from "../../../support/taker.ts";

/** Rows of each large table, and the apps that they belong to. */
const ROWS = 40_000;
const APPS = 20;
const NOW = 1_000_000;
/** Rows of a table that is small enough to be read from end to end when the planner expects many rows of a set. */
const FEW_ROWS = 10_000;
const LARGE_TABLES = [
  "requests",
  "nfts",
  "holdings",
  "token_traits",
  "events",
  "deliveries",
  "idempotency_keys",
  "wallets",
  "batches",
];
/** A lane with many batches, none of which is open. */
const DRAINED = 7;

describeOn("postgres", "query plans on PostgreSQL", () => {
  let database: TestDatabase;
  before("fill a database", async () => {
    database = await openTestDatabase();
    for (let app = 0; app < APPS; app++) await addApp(database, `app-${app.toString()}`);
    await database.write(async (trx) => {
      await sql`
        insert into webhooks (id, app_id, url, secrets, created_at, updated_at)
        select id, id, 'https://app.example/', 'sealed', 1, 1 from apps`.execute(trx);
      const rows = sql`(select i, 'app-' || i % ${sql.lit(APPS)} as app from generate_series(1, ${sql.lit(ROWS)}) as i) as row`;
      // A tenth is ready, a tenth awaits its confirmation.
      await sql`
        insert into requests (id, app_id, type, status, command, ready_at, number, returns, outcome, block_number, created_at, updated_at)
        select 'request-' || i, app, 'mint', case when i % 10 < 2 then 'pending' else 'completed' end, '{"kind":"none"}',
               case when i % 10 = 0 then 0 end, i::text, 0, case when i % 10 = 1 then '{"ok":true}' end, i, i, i
          from ${rows}`.execute(trx);
      // Each collection has a tenth of the tokens, each wallet a few, and each trait half of the tokens of a collection.
      await sql`
        insert into nfts (contract, token_id, supply, reserved, metadata, search_name, minted_block, minted_at)
        select 'collection-' || i % 10, i::text, '1', '0', '{}', 'Cat ' || i, i, 1 from ${rows}`.execute(trx);
      await sql`
        insert into holdings (contract, token_id, owner, quantity, reserved, since_block)
        select 'collection-' || i % 10, i::text, 'wallet-' || i % 1000, '1', '0', i from ${rows}`.execute(trx);
      await sql`insert into token_traits (trait, token_seq) select 'trait-' || seq % 20, seq from nfts`.execute(trx);
      await sql`
        update requests set nft_collection = 'collection-' || seq % 10, from_address = 'wallet-' || seq % 1000,
               to_address = 'wallet-' || seq % 7`.execute(trx);
      await sql`
        insert into events (id, app_id, position, request_id, type, body, created_at)
        select 'event-' || i, app, i, 'request-' || i, 'sent', '{}', i from ${rows}`.execute(trx);
      await sql`
        insert into deliveries (id, event_seq, app_id, webhook_id, request_id, subject, status, tries, next_at, created_at, updated_at)
        select 'delivery-' || i, i, app, app, 'request-' || i, 'request-' || i, case when i % 10 = 0 then 'pending' else 'delivered' end, 0,
               case when i % 10 = 0 then 0 end, i, i from ${rows}`.execute(trx);
      await sql`
        insert into idempotency_keys (app_id, key, fingerprint, response, created_at)
        select app, 'key-' || i, 'new:1', '{}', i from ${rows}`.execute(trx);
      await sql`
        insert into wallets (address, app_id, user_identifier, path, created_at)
        select 'wallet-' || i, app, 'user-' || i, '0/0/' || i, i from ${rows} where i <= ${sql.lit(FEW_ROWS)}`.execute(
        trx,
      );
      await ensureLane(trx, DRAINED, "drained", ROWS + 1);
      await sql`
        insert into batches (lane, nonce, status, size, created_at)
        select ${sql.lit(DRAINED)}, i, 'closed', 1, i from ${rows}`.execute(trx);
    });
    await sql`analyze`.execute(database.read);
  });
  after(() => database.remove());

  const write: Database["write"] = (operation) => database.write(operation);

  async function expectNoScan(work: () => Promise<unknown>): Promise<void> {
    const plans = await plansOf(database.url, work);
    expect(plans.length).to.be.above(0);
    const faults = plans.flatMap(({ text, plan }) =>
      scannedTables(plan)
        .filter((table) => LARGE_TABLES.includes(table))
        .map((table) => `Seq Scan of ${table}: ${text}`),
    );
    expect(faults, faults.join("\n")).to.deep.equal([]);
  }

  it("find a scan where there is one", async () => {
    const plans = await plansOf(database.url, () =>
      sql`select id from requests where errors = ${"none"}`.execute(database.read),
    );
    expect(plans.flatMap(({ plan }) => scannedTables(plan))).to.deep.equal(["requests", "requests"]);
  });

  it("of a lane scan no large table", async () => {
    const { read } = database;
    await write((trx) => ensureLane(trx, 0, "lane", 0));
    const lease = await write((trx) => takeLease(trx, 0, "test", { now: NOW, lasts: 1_000 }, () => true));
    if (lease === null) throw new Error("the lane is free");
    let numbers = BigInt(ROWS);
    await expectNoScan(async () => {
      await countReady(read, NOW, 250);
      const { claimed } = await write((trx) =>
        claimRequests(trx, lease, { limit: 50, now: NOW, nextNumber: () => ++numbers }),
      );
      expect(claimed).to.have.length(50);
      const unsent = claimed
        .slice(0, 25)
        .map((request) => ({ kind: "ready" as const, request, retryIn: 1, waitingFor: null }));
      await write((trx) => returnUnsent(trx, lease, unsent, NOW));
      await write((trx) => returnAbandonedClaims(trx, lease, NOW));
      await hasBegun(read, 0);
      await requestsByNumber(read, [1n, 2n]);
    });
  });

  it("of a lane that is drained read the open batches only", async () => {
    const plans = await plansOf(database.url, () => hasBegun(database.read, DRAINED));
    const read = plans.map(({ plan }) => indexesOf(plan).filter((index) => index.startsWith("batches")));
    expect(read).to.deep.equal([["batches_open"], ["batches_open"]]);
  });

  it("of the dispatcher scan no large table", async () => {
    await expectNoScan(async () => {
      const { taken } = await write((trx) => takeDueDeliveries(trx, { ...taker(), now: NOW, leaseUntil: NOW + 1_000 }));
      expect(taken.length).to.be.above(0);
      await write((trx) => putOffDeliveries(trx, taken, NOW + 2_000, "holder"));
      const [first, ...others] = taken;
      if (first === undefined) throw new Error("a delivery is due");
      const result = { responseStatus: 200, responseBody: null, error: null, nextAt: null };
      await write((trx) => recordTries(trx, [{ ...first, result }], NOW));
      await write((trx) => putOffDeliveries(trx, others, 0, null));
    });
  });

  it("of the API's look-ups and listings scan no large table", async () => {
    const { read } = database;
    const page = { limit: 30, offset: 0, after: null };
    await expectNoScan(async () => {
      await eventsAfter(read, { appId: "app-3", after: ROWS / 2 }, 100);
      await newestPositions(read, ["app-3", "app-4"]);
      await feedPages(
        read,
        ["app-3", "app-4"].map((appId) => ({ appId, after: 0 })),
        64,
      );
      await listDeliveries(read, { id: "app-3", app_id: "app-3" }, page);
      for (const status of [null, "pending"] as const)
        for (const type of [null, "mint"] as const)
          for (const after of [null, ROWS / 2]) await listRequests(read, "app-3", { status, type }, { ...page, after });
      await findRequests(read, [{ appId: "app-3", id: "request-3" }]);
      await findStoredAnswers(read, [{ appId: "app-3", key: "key-3" }]);
      await findWallets(read, [{ appId: "app-3", address: "wallet-3" }]);
      await walletApps(read, ["wallet-3"]);
      await searchWallets(read, "app-3", "user-1", 5);
      await searchNfts(read, "collection-0", "cat 1", 5);
      for (const order of ["oldest", "newest"] as const) {
        await listNfts(read, "collection-0", order, page);
        await listWallets(read, "app-3", order, page);
        await listRequests(read, "app-3", { status: null, type: null }, page, order);
      }
      for (const status of [null, "pending"] as const)
        for (const more of [
          { wallet: "wallet-3" },
          { collection: "collection-3" },
          { wallet: "wallet-3", collection: "c" },
        ])
          for (const after of [null, ROWS / 2])
            await listRequests(read, "app-3", { status, type: null, ...more }, { ...page, after });
      for (const filter of [{ owner: "wallet-3" }, { trait: "trait-3" }])
        for (const after of [null, ROWS / 2]) await listSomeNfts(read, "collection-0", filter, { ...page, after });
    });
  });

  it("of holdings read them by token and owner, whatever the statistics say", async () => {
    const key = (token: number) => ({ contract: "contract", tokenId: token.toString(), owner: "treasury" });
    const [few, many] = [20, 200].map((count) => Array.from({ length: count }, (_, token) => key(ROWS - 10 + token)));
    if (few === undefined || many === undefined) throw new Error("there are two sets");
    const expectIndex = async () => {
      const plans = await plansOf(database.url, async () => {
        await write((trx) => HoldingSet.read(trx, many));
        await heldAmong(database.read, few);
      });
      const indexes = plans.flatMap(({ plan }) => indexesOf(plan)).filter((index) => index.startsWith("holdings"));
      expect(new Set(indexes)).to.have.all.keys("holdings_pkey", "holdings_token_owner");
    };
    await write((trx) =>
      // The server does not know yet that one owner has all of them.
      sql`insert into holdings (contract, token_id, owner, quantity, reserved, since_block)
          select 'contract', i, 'treasury', '1', '0', i from generate_series(1, ${sql.lit(ROWS)}) as i`.execute(trx),
    );
    await expectIndex();
    await write((trx) =>
      sql`insert into holdings (contract, token_id, owner, quantity, reserved, since_block)
          select 'contract', i, 'owner-' || i, '1', '0', i from generate_series(1, ${sql.lit(ROWS)}) as i`.execute(trx),
    );
    await sql`analyze holdings`.execute(database.read);
    await expectIndex();
  });

  it("of the indexer scan no large table", async () => {
    await expectNoScan(() => database.write((trx) => settleFinal(trx, { confirmed: 5, failuresUpTo: 5 }, NOW)));
  });
});

interface Node {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  Plans?: Node[];
}

type Value = string | number | bigint | null;

interface Statement {
  text: string;
  values?: Value[];
}

type Query = (this: pg.Client, statement: string | Statement, values?: Value[]) => Promise<{ rows: Row[] }>;
type Row = Record<string, unknown>;

interface PlannedStatement {
  text: string;
  plan: Node;
}

/** After so many runs of a prepared statement, the server has chosen: one plan for all values, or a new one for each run. */
const RUNS = 7;

/**
 * The plans of the statements that `work` runs: as the server makes them first, and as it does when they are prepared.
 * @param url of the database. Statements for others are left out: a service that test files share may work meanwhile.
 */
async function plansOf(url: string, work: () => Promise<unknown>): Promise<PlannedStatement[]> {
  const name = new URL(url).pathname.slice(1);
  const plans: PlannedStatement[] = [];
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = async function (statement, ...others) {
    const { text, values = [] } = typeof statement === "string" ? { text: statement, values: others[0] } : statement;
    if (this.database === name && values.length > 0 && /^\s*(select|with|insert|update|delete)\b/i.test(text)) {
      const given = values.map((value) => (value === null ? "null" : pg.escapeLiteral(String(value)))).join(", ");
      await query.call(this, `prepare probe as ${text}`);
      for (let run = 1; run <= RUNS; run++) {
        const { rows } = await query.call(this, `explain (format json) execute probe (${given})`);
        const [{ Plan: plan }] = rows[0]?.["QUERY PLAN"] as [{ Plan: Node }];
        if (run === 1 || run === RUNS)
          plans.push({ text: `run ${run.toString()}: ${text.replace(/\s+/g, " ")}`, plan });
      }
      await query.call(this, "deallocate probe");
    }
    return query.call(this, statement, ...others);
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return plans;
}

/** The indexes that a plan reads. */
function indexesOf(node: Node): string[] {
  const own = node["Index Name"] === undefined ? [] : [node["Index Name"]];
  return [...own, ...(node.Plans ?? []).flatMap(indexesOf)];
}

/** The tables that a plan reads from end to end. */
function scannedTables(node: Node): string[] {
  const own = node["Node Type"] === "Seq Scan" ? [node["Relation Name"] ?? ""] : [];
  return [...own, ...(node.Plans ?? []).flatMap(scannedTables)];
}
