import { expect } from "chai";

import { insertApiToken } from "../../../../api/store/apps/api-tokens.ts";
import { insertAnswers } from "../../../../api/store/apps/idempotency.ts";
import { pruneSome } from "../../../../api/store/retention/prune.ts";
import { addRequest, APP, creation } from "../../support/rows.ts";
import { DAY, fillBasics, NOW } from "./support.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("pruning long answers", () => {
  const database = useTestDatabase({ prepare: fillBasics });

  const add = (key: string, age: number, appId = APP, response = "{}") =>
    database.write((trx) => insertAnswers(trx, [{ appId, key, fingerprint: "f", response }], NOW - age * DAY));
  const prune = (now = NOW) => database.write((trx) => pruneSome(trx, "batch_answers", { now, days: 30 }));
  const long = JSON.stringify({ results: Array.from({ length: 100 }, () => ({ request_id: "a".repeat(64) })) });
  const answers = async () =>
    (await database.read.selectFrom("idempotency_keys").select(["key", "response"]).orderBy("key").execute()).map(
      ({ key, response }) => [key, response.length],
    );

  it("empties those that are old, once, and keeps every key", async () => {
    await add("a", 31, APP, long);
    await add("b", 31);
    await add("c", 29, APP, long);
    const step = await prune();
    expect(step).to.include({ rows: 1, bytes: long.length, more: false });
    expect(await answers()).to.deep.equal([
      ["a", 0],
      ["b", 2],
      ["c", long.length],
    ]);
    expect(await prune()).to.include({ rows: 0 });
  });

  it("keeps them while an older request is not final, and when only the clock has moved", async () => {
    await add("a", 40, APP, long);
    await addRequest(database, creation(), { now: NOW - 40 * DAY });
    expect(await prune()).to.include({ rows: 0 });
    await database.write((trx) => trx.updateTable("requests").set({ status: "completed" }).execute());
    await add("b", 29, APP, long);
    expect(await prune(NOW + 365 * DAY)).to.include({ rows: 1 });
    expect(await answers()).to.deep.equal([
      ["a", 0],
      ["b", long.length],
    ]);
  });
});

describe("pruning API tokens", () => {
  const database = useTestDatabase({ prepare: fillBasics });

  it("deletes those that were revoked or expired long ago, whichever came first, and none that works", async () => {
    const old = NOW - 31 * DAY;
    const recent = NOW - 29 * DAY;
    const tokens: [string, number | null, number | null][] = [
      ["works for ever", null, null],
      ["works", NOW + DAY, null],
      ["revoked", null, old],
      ["expired", old, null],
      ["expired, then revoked", old, recent],
      ["revoked, then expired", recent, old],
      ["revoked before its end", NOW + DAY, old],
      ["revoked recently", null, recent],
      ["expired recently", recent, null],
      ["both recently", recent, recent],
    ];
    await database.write(async (trx) => {
      for (const [id, expires_at, revoked_at] of tokens) {
        const token = { id, app_id: APP, name: id, hash: id, scopes: [], rate_limit_per_minute: null, created_at: 1 };
        await insertApiToken(trx, { ...token, expires_at, revoked_at });
      }
    });
    const prune = () => database.write((trx) => pruneSome(trx, "api_tokens", { now: NOW, days: 30 }));
    const step = await prune();
    expect(step).to.include({ rows: 5, more: false });
    expect(step.bytes).to.be.within(500, 2_000);
    const left = await database.read.selectFrom("api_tokens").select("id").execute();
    const kept = ["works for ever", "works", "revoked recently", "expired recently", "both recently"];
    expect(left.map(({ id }) => id)).to.have.members(kept);
    expect(await prune()).to.include({ rows: 0 });
  });
});
