import { expect } from "chai";

import { dayOf } from "../../../api/domain/day.ts";
import { addToCounters, counterKeys } from "../../../api/store/db/counters.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { refusalOf } from "./support/refusal.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describe("command line: usage", () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const env = () => ({ DATABASE_URL: api.databaseUrl });
  const run = async (...words: string[]) => (await runCli(env(), ...words)).output;
  const json = <T>(...words: string[]) => jsonOfCli<T>(env(), ...words);
  const refusal = async (...words: string[]) => (await refusalOf(runCli(env(), ...words))).message;

  interface UsageResult {
    from: string;
    total: { requests_accepted: number; fee_wei: string };
    apps: { name: string; total: { requests_accepted: number }; days: { date: string; gas_used: number }[] }[];
  }

  it("shows each app and the sum of all, exactly", async () => {
    const body = { type: "ERC721", name: "A", symbol: "AAA" };
    for (const token of [api.app.token, api.app.token, api.other.token]) {
      await api.post("/v1/collections", body, { token });
    }
    for (const app of [api.app.id, api.other.id]) {
      const day = dayOf(Date.now());
      const fee = new Map([
        [counterKeys.usage(app, day, "fee_gwei"), 8_000_000_000_000_000],
        [counterKeys.usage(app, day, "fee_rest"), 600_000_001],
      ]);
      await api.database.write((trx) => addToCounters(trx, fee));
    }
    const { total, apps } = await json<UsageResult>("usage");
    expect(total).to.include({ requests_accepted: 3, fee_wei: "16000000000000001200000002" });
    // The apps may have been created in the same millisecond.
    expect(apps.map(({ name, total: of }) => [name, of.requests_accepted])).to.have.deep.members([
      ["first", 2],
      ["second", 1],
    ]);
    expect(apps[0]?.days).to.have.length(30);
    expect(await run("usage", "--app", "first")).to.match(/first +2 .*\nall apps +2 /);
    const day = ["--from", "2026-05-04", "--to", "2026-05-04"];
    const past = await json<UsageResult>("usage", ...day);
    expect(past).to.deep.include({ from: "2026-05-04" });
    expect(past.apps.map(({ days }) => days.map(({ date }) => date))).to.deep.equal([["2026-05-04"], ["2026-05-04"]]);
  });

  it("refuses days that do not exist, and ranges that are reversed or too long", async () => {
    expect(await refusal("usage", "--from", "2026-02-30")).to.contain("Give a day such as 2026-05-04");
    expect(await refusal("usage", "--from", "2026-05-05", "--to", "2026-05-04")).to.contain("must not be after");
    expect(await refusal("usage", "--from", "2020-01-01")).to.contain("At most 366 days");
  });
});
