import { expect } from "chai";
import { sql } from "kysely";

import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { compareCounters } from "../../../api/store/reconcile/compare-counters.ts";
import type { Databases } from "../../../scripts/bench/harness/databases.ts";
import type { Row } from "../../../scripts/bench/harness/row.ts";
import { fill } from "../../../scripts/bench/reading/fill/fill.ts";
import { reading } from "../../../scripts/bench/reading/reading.ts";
import { Shape } from "../../../scripts/bench/reading/shape.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { TEST_ENGINE } from "../../support/engine.ts";

const TOKENS = 2_000;

describe("benchmark of reading", () => {
  describe("given a database that it has filled", () => {
    let place: DatabasePlace;
    let database: Database;
    before(async () => {
      place = await createTestDatabase();
      const empty = await openDatabase(place.url);
      await empty.write(async (trx) => {
        const unlimited = { quota_media_bytes: null, quota_media_requests: null, quota_wallets: null };
        await trx
          .insertInto("apps")
          .values({ id: "busy", name: "busy", created_at: 1, ...unlimited })
          .execute();
        const lane = { lane: 0, address: "lane", next_nonce: 20, lease_holder: null, lease_fence: 0, lease_until: 0 };
        await trx.insertInto("lanes").values(lane).execute();
      });
      await empty.close();
      await fill(place.url, new Shape(TOKENS), { app: "busy", nonce: 20 });
      database = await openDatabase(place.url);
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    it("has the totals that `reconcile` counts", async () => {
      expect(await database.write((trx) => compareCounters(trx, false))).to.deep.equal([]);
    });

    for (const [name, count] of Object.entries({
      requests: TOKENS,
      nfts: TOKENS + 1,
      holdings: TOKENS * 1.1,
      transfers: TOKENS * 1.2,
      wallet_history: TOKENS,
      events: TOKENS * 2,
    })) {
      it(`has ${count.toString()} ${name}`, async () => {
        const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(
          database.read,
        );
        expect(Number(rows[0]?.count)).to.equal(count);
      });
    }

    for (const [child, column, parent, key] of [
      ["collections", "request_id", "requests", "id"],
      ["nfts", "request_id", "requests", "id"],
      ["nfts", "contract", "collections", "address"],
      ["holdings", "contract", "collections", "address"],
      ["transfers", "request_id", "requests", "id"],
      ["events", "request_id", "requests", "id"],
      ["requests", "batch_id", "batches", "id"],
      ["requests", "app_id", "apps", "id"],
      ["wallet_history", "wallet", "wallets", "address"],
    ] as const) {
      it(`has ${parent} for every \`${column}\` of ${child}`, async () => {
        const { rows } = await sql<{ count: number }>`
          select count(*) as count from ${sql.table(child)} as child
           where ${sql.ref(`child.${column}`)} is not null
             and ${sql.ref(`child.${column}`)} not in (select ${sql.ref(key)} from ${sql.table(parent)})`.execute(
          database.read,
        );
        expect(Number(rows[0]?.count)).to.equal(0);
      });
    }

    it("has each app's events without a gap", async () => {
      const { rows } = await sql<{ app_id: string }>`
        select app_id from events group by app_id having max(position) <> count(*) or min(position) <> 1`.execute(
        database.read,
      );
      expect(rows).to.deep.equal([]);
    });
  });

  describe("when it runs", () => {
    let rows: Row[];
    const places: DatabasePlace[] = [];
    before(async () => {
      const databases: Databases = {
        engine: TEST_ENGINE,
        create: async (folder) => {
          const place = await createTestDatabase({ folder });
          places.push(place);
          return place.url;
        },
      };
      const plan = { sizes: [1_000, TOKENS], rounds: 2, warmUp: 1, within: 60_000, startUps: 1 };
      rows = await reading.run({ databases, profiles: null }, plan);
    });
    // It has removed the others itself.
    after(() => places[0]?.remove());

    it("measures every reading, and checks its answers", () => {
      const compared = rows.filter(({ what }) => what.includes("2,000 tokens"));
      expect(compared).to.have.length(42);
      for (const { what, measured, baseline } of compared) {
        expect(measured, what).to.be.greaterThan(0);
        expect(baseline?.measured, what).to.be.greaterThan(0);
      }
    });

    it("reports the disk and the start-up", () => {
      const others = rows.filter(({ what }) => /^(disk|start-up)/.test(what));
      expect(others).to.have.length(3);
      for (const { what, measured } of others) expect(measured, what).to.be.greaterThan(0);
    });
  });
});
