import { expect } from "chai";

import { dayOf } from "../../../api/domain/day.ts";
import type { QuotaUse } from "../../../api/domain/quota.ts";
import { addToCounters, counterKeys } from "../../../api/store/db/counters.ts";
import { writeMeta } from "../../../api/store/db/meta.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import { adoptContract } from "../../../api/store/ledger/adoptions.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { expectRefusal } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";
import { jsonOfCli, runCli } from "./support/run.ts";
import { useCli } from "./support/use-cli.ts";

interface App {
  app_id: string;
  name: string;
  token: string;
}

describe("command line: app", () => {
  const cli = useCli();

  it("creates an app whose token works at once in the running service", async () => {
    const made = await cli.json<App>("app", "create", "shop");
    expect(Object.keys(made)).to.deep.equal(["app_id", "name", "token"]);
    expect(made.name).to.equal("shop");
    expect((await cli.api.get("/v1/accounts", { token: made.token })).status).to.equal(200);
    const apps = await cli.json<App[]>("app", "list");
    expect(apps.find((app) => app.app_id === made.app_id)?.name).to.equal("shop");
    expect(await cli.run("app", "list")).to.contain("shop");
  });

  it("explains why a name is taken, unknown or invalid", async () => {
    expect(await cli.refusal("app", "create", "first")).to.contain("already");
    expect(await cli.refusal("token", "list", "nobody")).to.contain("no app with the name or id nobody");
    expect(await cli.refusal("app", "create", "  ")).to.contain("1 to 100 characters");
  });

  it("removes an app with its webhook and deliveries, and keeps one that has a wallet", async () => {
    const { token } = await cli.json<App>("app", "create", "leaving");
    await cli.api.call("PUT", "/v1/webhook", { token, body: { url: "https://hooks.example/nft" } });
    expect((await cli.api.post("/v1/webhook/test", {}, { token })).status).to.equal(200);
    await cli.run("app", "remove", "leaving");
    expectRefusal(await cli.api.get("/v1/webhook", { token }), 401, "unauthorized");
    const kept = await cli.json<App>("app", "create", "kept");
    await cli.api.post("/v1/accounts", {}, { token: kept.token });
    expect(await cli.refusal("app", "remove", "kept")).to.contain("was not removed");
  });

  it("keeps an app that has nothing but a contract that it has adopted", async () => {
    const { app_id: appId } = await cli.json<App>("app", "create", "adopter");
    const address = randomAddress();
    const contract = {
      address,
      type: "ERC721",
      name: "",
      symbol: "",
      owner: address,
      totalSupply: null,
      block: 1,
    } as const;
    const adopt = (trx: Trx) => adoptContract(trx, appId, contract, { firstBlock: 1, most: 1, now: 1 });
    expect(await cli.api.database.write(adopt)).to.equal("adopted");
    expect(await cli.refusal("app", "remove", "adopter")).to.contain("was not removed");
  });

  describe("quota", () => {
    const limits = async (app: string, ...words: string[]) => {
      const { quotas } = await cli.json<{ quotas: QuotaUse }>("app", "quota", app, ...words);
      return Object.values(quotas).map(({ limit }) => limit);
    };

    it("sets those that are given, removes them, and changes nothing without options", async () => {
      const rest = [null, null, null, null];
      expect(await limits("first")).to.deep.equal([null, null, null, ...rest]);
      expect(await limits("first", "--media-bytes", "1000", "--wallets", "2")).to.deep.equal([1_000, null, 2, ...rest]);
      expect(await limits("first", "--wallets", "none", "--media-requests", "0")).to.deep.equal([
        ...[1_000, 0, null],
        ...rest,
      ]);
      const others = ["--stored-bytes", "4", "--collections", "5", "--mints", "6", "--api-tokens", "7"];
      expect(await limits("first", ...others)).to.deep.equal([1_000, 0, null, 4, 5, 6, 7]);
      expect(await limits("first")).to.deep.equal([1_000, 0, null, 4, 5, 6, 7]);
      await cli.api.post("/v1/accounts", {});
      expect(await cli.run("app", "quota", "first"))
        .to.match(/media_bytes +0 +1000/)
        .and.match(/wallets +1 +none/)
        .and.match(/api_tokens +1 +7/);
    });

    it("gives a new app the quotas of the settings, and leaves those that exist unchanged", async () => {
      const settings = { APP_QUOTAS: "collections=3, stored_bytes=none,mints=9" };
      await runCli({ ...cli.env, ...settings }, "app", "create", "new");
      await cli.run("app", "create", "usual");
      const { quotas } = await jsonOfCli<{ quotas: QuotaUse }>({ ...cli.env, ...settings }, "app", "quota", "new");
      expect(Object.values(quotas).map(({ limit }) => limit)).to.deep.equal([null, null, null, null, 3, 9, 100]);
      expect(await limits("usual")).to.deep.equal([null, null, null, 1_000_000_000, 200, null, 100]);
      expect(await limits("first")).to.deep.equal(Array.from({ length: 7 }, () => null));
      for (const wrong of ["collections=-1", "collections", "colections=3", "mints=1=2", "mints=none,"]) {
        const { message } = await rejectionOf(runCli({ ...cli.env, APP_QUOTAS: wrong }, "app", "create", "third"));
        expect(message, wrong).to.contain("APP_QUOTAS: must be name=number or name=none, separated by commas; names: ");
      }
      expect(await cli.refusal("app", "quota", "third")).to.contain("no app with the name or id third");
    });

    it("refuses what is not a limit, and apps that do not exist", async () => {
      for (const words of ["-1", "1.5", "many", "99999999999999999999"]) {
        const message = await cli.refusal("app", "quota", "first", "--wallets", words);
        expect(message).to.contain("Give a whole number from 0 on, or none");
      }
      expect(await cli.refusal("app", "quota", "nobody", "--wallets", "1")).to.contain("nobody");
    });
  });
});

describe("command line: usage", () => {
  const cli = useCli();

  interface UsageResult {
    from: string;
    total: { requests_accepted: number; fee_wei: string };
    apps: { name: string; total: { requests_accepted: number }; days: { date: string; gas_used: number }[] }[];
  }

  it("shows each app and the sum of all, exactly", async () => {
    const { app: first, other: second, database } = cli.api;
    const body = { type: "ERC721", name: "A", symbol: "AAA" };
    for (const { token } of [first, first, second]) await cli.api.post("/v1/collections", body, { token });
    for (const { id } of [first, second]) {
      const day = dayOf(Date.now());
      const fee = new Map([
        [counterKeys.usage(id, day, "fee_gwei"), 8_000_000_000_000_000],
        [counterKeys.usage(id, day, "fee_rest"), 600_000_001],
      ]);
      await database.write((trx) => addToCounters(trx, fee));
    }
    const { total, apps } = await cli.json<UsageResult>("usage");
    expect(total).to.include({ requests_accepted: 3, fee_wei: "16000000000000001200000002" });
    // The apps may have been created in the same millisecond.
    expect(apps.map(({ name, total: of }) => [name, of.requests_accepted])).to.have.deep.members([
      ["first", 2],
      ["second", 1],
    ]);
    expect(apps[0]?.days).to.have.length(30);
    expect(await cli.run("usage", "--app", "first")).to.match(/first +2 .*\nall apps +2 /);
    expect(await cli.run("usage")).to.match(/FEE \(the chain's coins\)[^]*all apps .* 16000000\.000000001200000002 /);
    await database.write((trx) => writeMeta(trx, "chain_id", "137"));
    expect(await cli.run("usage")).to.contain("FEE (POL)");
    const past = await cli.json<UsageResult>("usage", "--from", "2026-05-04", "--to", "2026-05-04");
    expect(past).to.deep.include({ from: "2026-05-04" });
    expect(past.apps.map(({ days }) => days.map(({ date }) => date))).to.deep.equal([["2026-05-04"], ["2026-05-04"]]);
  });

  it("refuses days that do not exist, and ranges that are reversed or too long", async () => {
    expect(await cli.refusal("usage", "--from", "2026-02-30")).to.contain("Give a day such as 2026-05-04");
    const reversed = await cli.refusal("usage", "--from", "2026-05-05", "--to", "2026-05-04");
    expect(reversed).to.contain("must not be after");
    expect(await cli.refusal("usage", "--from", "2020-01-01")).to.contain("At most 366 days");
  });
});
