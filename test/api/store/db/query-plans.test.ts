import { expect } from "chai";

import { listWallets, walletPaths } from "../../../../api/store/apps/wallets.ts";
import { FairSlots } from "../../../../api/shared/fair-slots.ts";
import type { Trx } from "../../../../api/store/db/engine.ts";
import type { Page, PageQuery } from "../../../../api/store/db/pages.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { listCollections } from "../../../../api/store/listings/collections.ts";
import { listTokenHistory, listWalletHistory } from "../../../../api/store/listings/history.ts";
import { heldTokenIds, isHeld, listContents, listHolders } from "../../../../api/store/listings/holdings.ts";
import { findNft, listNfts } from "../../../../api/store/listings/nfts.ts";
import { abandonDeliveries } from "../../../../api/store/outbox/abandoned-deliveries.ts";
import { recordTry } from "../../../../api/store/outbox/deliveries.ts";
import { listDeliveries, newestDeliveries } from "../../../../api/store/outbox/delivery-log.ts";
import { takeDueDeliveries } from "../../../../api/store/outbox/due-deliveries.ts";
import { eventsAfter } from "../../../../api/store/outbox/events.ts";
import { listRequests } from "../../../../api/store/requests/requests.ts";
import { batchesByHash, openBatches } from "../../../../api/store/sending/batches.ts";
import { countReady, returnAbandonedClaims } from "../../../../api/store/sending/claims.ts";
import { takeLease } from "../../../../api/store/sending/lanes.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { apply, batchOf, startAtBlock } from "../../support/blocks.ts";
import { addApp, addCollection, addRequest, moveOf, randomAddress, reserve } from "../../support/rows.ts";
import { BUSY, fill, LARGE, LARGE_TABLES } from "../support/large-database.ts";
import { type PlannedStatement, plansOf, recordStatements } from "../support/recording.ts";

/** Statements that may sort or group without an index, each with the reason. None may scan a large table. */
const MAY_SORT: { statement: RegExp; because: string }[] = [
  {
    statement: /with recursive app \(id\)/,
    because: "the queue stops at its limit; what is sorted at the end is no longer than that",
  },
  {
    statement: /json_each/,
    because: "sorts or groups a set that the service has in memory, in the order of its keys",
  },
];

const FIRST: PageQuery = { limit: 30, offset: 0, after: null };
const DEEP: PageQuery = { limit: 30, offset: 10_000, after: null };
const NEXT: PageQuery = { limit: 30, offset: 0, after: LARGE / 2 };
const NOW = 1_000;

describe("query plans", function () {
  this.timeout(60_000);
  let database: TestDatabase;
  let file: string;

  before(async () => {
    database = await openTestDatabase();
    file = database.url.slice("file:".length);
    fill(file);
  });
  after(() => database.remove());

  const write = <T>(operation: (trx: Trx) => Promise<T>) => database.write(operation);
  const timed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };

  async function listEverything(): Promise<void> {
    const { read } = database;
    const { app, wallet, collection } = BUSY;
    const token = { contract: collection, tokenId: "7" };
    const filters = [null, { contract: collection, tokenId: null }, { contract: collection, tokenId: "7" }];
    const listings: ((page: PageQuery) => Promise<Page<unknown>>)[] = [
      (page) => listWallets(read, app, page),
      (page) => listCollections(read, app, page),
      (page) => listNfts(read, collection, page),
      (page) => listHolders(read, collection, "7", page),
      (page) => listWalletHistory(read, app, wallet, page),
      (page) => listTokenHistory(read, app, token, page),
      (page) => listDeliveries(read, app, page),
      ...filters.map((filter) => (page: PageQuery) => listContents(read, wallet, filter, page)),
      ...([null, "pending"] as const).flatMap((status) =>
        ([null, "mint"] as const).map((type) => (page: PageQuery) => listRequests(read, app, { status, type }, page)),
      ),
    ];
    for (const list of listings) for (const page of [FIRST, DEEP, NEXT]) await list(page);
    await eventsAfter(read, app, LARGE / 2, 100);
    await newestDeliveries(read, app, { status: null, limit: 50 });
    await findNft(read, collection, "7");
    await heldTokenIds(read, "nobody", collection);
    await isHeld(read, wallet, collection, "7");
    await walletPaths(read, [wallet]);
    await batchesByHash(read, ["hash-1"]);
    await openBatches(read, 0);
    await countReady(read, NOW, 200);
  }

  /** A mint from its request to its outcome, and back. */
  async function mintAndRollBack(): Promise<void> {
    await addApp(database);
    await startAtBlock(database, LARGE);
    const collection = await addCollection(database);
    const to = randomAddress();
    const command = { kind: "mint-erc721", collection, to, metadata: null } as const;
    const { id } = await addRequest(database, command);
    await write((trx) => reserve(trx, id, command));
    const { batchId, requests } = await batchOf(database, [id]);
    const [mint] = requests;
    if (mint === undefined) throw new Error("the request is in the batch");
    const block = LARGE + 1;
    const where = { blockNumber: block, transactionHash: "0x01" };
    await apply(database, {
      block,
      wallets: new Set([to]),
      batches: [
        {
          batchId,
          ...where,
          timestamp: 1,
          untouched: [],
          outcomes: [{ request: mint, outcome: { ok: true, collection, tokenId: "1" } }],
        },
      ],
      moves: [
        {
          move: moveOf({ contract: collection, tokenId: "1", from: null, to, requestId: id, ...where }),
          type: "ERC721",
          foreign: false,
          mintedBy: mint,
        },
      ],
    });
    await write((trx) => rollback(trx, LARGE));
    await write(async (trx) => {
      const lease = await takeLease(trx, 0, "next", { now: NOW, lasts: 1 }, () => true);
      if (lease !== null) await returnAbandonedClaims(trx, lease, NOW);
    });
  }

  const look = () =>
    write((trx) =>
      takeDueDeliveries(trx, {
        now: NOW,
        leaseUntil: NOW + 60_000,
        slots: new FairSlots({ shared: 32, ofApp: 4, most: 256 }),
      }),
    );

  async function deliver(): Promise<void> {
    const { taken } = await look();
    const ok = { responseStatus: 200, error: null, nextAt: null };
    for (const { id } of taken) await write((trx) => recordTry(trx, id, ok, NOW));
    await write((trx) => abandonDeliveries(trx, "another", "the webhook was removed", NOW));
  }

  /** What is wrong with a plan. */
  function faults({ sql, plan }: PlannedStatement): string[] {
    const found = scans(sql, plan)
      .filter((table) => LARGE_TABLES.some((large) => large === table))
      .map((table) => `SCAN ${table}`);
    if (!MAY_SORT.some(({ statement }) => statement.test(sql)))
      found.push(...plan.filter((step) => step.startsWith("USE TEMP B-TREE")));
    return found.map((fault) => `${fault}: ${sql} | ${plan.join(" | ")}`.replace(/\s+/g, " "));
  }

  /** Tables that are read from end to end, by their own names. */
  function scans(sql: string, plan: string[]): string[] {
    return plan.flatMap((step) => {
      // A virtual table is a set in memory.
      const [, name] = /^SCAN (\w+)(?!.*VIRTUAL TABLE)/.exec(step) ?? [];
      if (name === undefined) return [];
      const [, table] = new RegExp(`"?(\\w+)"? as "?${name}"?\\b`).exec(sql) ?? [];
      return [table ?? name];
    });
  }

  it("scan no large table, and sort nothing without a bound", async () => {
    const recording = recordStatements();
    try {
      await listEverything();
      await mintAndRollBack();
      await deliver();
    } finally {
      recording.stop();
    }
    const plans = plansOf(file, recording.statements);
    expect(plans.length, "statements seen").to.be.at.least(80);
    const found = plans.flatMap(faults);
    expect(found, found.join("\n")).to.deep.equal([]);
  });

  it("find a scan where there is one", () => {
    const statements = [
      "select * from requests where transaction_hash = ?",
      "select * from transfers order by timestamp limit 1",
      "select r.seq from requests as r where r.errors = ?",
    ];
    const found = plansOf(file, statements).flatMap(faults);
    for (const fault of ["SCAN requests", "SCAN transfers", "USE TEMP B-TREE FOR ORDER BY"])
      expect(found.some((text) => text.startsWith(fault))).to.equal(true);
  });

  it("look at a long queue of deliveries in a bounded time, and end it in chunks", async () => {
    expect(Math.min(await timed(look), await timed(look)), "a look").to.be.below(100);
    const reason = "the webhook was removed";
    expect(await timed(() => write((trx) => abandonDeliveries(trx, BUSY.app, reason, NOW)))).to.be.below(500);
    const pending = () =>
      database.read.selectFrom("deliveries").select("seq").where("status", "=", "pending").limit(1).execute();
    let looks = 0;
    for (; (await look()).more; looks++) expect(looks, "it ends").to.be.below(LARGE / 1_000 + 1);
    expect(looks).to.be.above(LARGE / 2_000);
    expect(await pending()).to.deep.equal([]);
  });
});
