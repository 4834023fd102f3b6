import { expect } from "chai";

import type { QuotaUse } from "../../../api/domain/quota.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { refusalOf } from "./support/refusal.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describe("command line: app quota", () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => api.close());

  const env = () => ({ DATABASE_URL: api.databaseUrl });
  const limits = async (...words: string[]) => {
    const { quotas } = await jsonOfCli<{ quotas: QuotaUse }>(env(), "app", "quota", "first", ...words);
    return Object.values(quotas).map(({ limit }) => limit);
  };

  it("sets those that are given, removes them, and changes nothing without options", async () => {
    expect(await limits()).to.deep.equal([null, null, null]);
    expect(await limits("--media-bytes", "1000", "--wallets", "2")).to.deep.equal([1_000, null, 2]);
    expect(await limits("--wallets", "none", "--media-requests", "0")).to.deep.equal([1_000, 0, null]);
    expect(await limits()).to.deep.equal([1_000, 0, null]);
    await api.post("/v1/accounts", {});
    const { output } = await runCli(env(), "app", "quota", "first");
    expect(output)
      .to.match(/media_bytes +0 +1000/)
      .and.match(/wallets +1 +none/);
  });

  it("refuses what is not a limit, and apps that do not exist", async () => {
    for (const words of ["-1", "1.5", "many", "99999999999999999999"]) {
      const { message } = await refusalOf(runCli(env(), "app", "quota", "first", "--wallets", words));
      expect(message).to.contain("Give a whole number from 0 on, or none");
    }
    const { message } = await refusalOf(runCli(env(), "app", "quota", "nobody", "--wallets", "1"));
    expect(message).to.contain("nobody");
  });
});
