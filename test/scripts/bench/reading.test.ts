import { expect } from "chai";
import { sql } from "kysely";

import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { compareCounters } from "../../../api/store/reconcile/compare.ts";
import { fill } from "../../../scripts/bench/reading/fill/fill.ts";
import { Shape } from "../../../scripts/bench/reading/shape.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";

const TOKENS = 1_000;

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
});
