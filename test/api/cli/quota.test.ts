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
    const rest = [null, null, null, null];
    expect(await limits()).to.deep.equal([null, null, null, ...rest]);
    expect(await limits("--media-bytes", "1000", "--wallets", "2")).to.deep.equal([1_000, null, 2, ...rest]);
    expect(await limits("--wallets", "none", "--media-requests", "0")).to.deep.equal([1_000, 0, null, ...rest]);
    const others = ["--stored-bytes", "4", "--collections", "5", "--mints", "6", "--api-tokens", "7"];
    expect(await limits(...others)).to.deep.equal([1_000, 0, null, 4, 5, 6, 7]);
    expect(await limits()).to.deep.equal([1_000, 0, null, 4, 5, 6, 7]);
    await api.post("/v1/accounts", {});
    const { output } = await runCli(env(), "app", "quota", "first");
    expect(output)
      .to.match(/media_bytes +0 +1000/)
      .and.match(/wallets +1 +none/)
      .and.match(/api_tokens +1 +7/);
  });

  it("gives a new app the quotas of the settings, and leaves those that exist unchanged", async () => {
    const settings = { ...env(), APP_QUOTA_COLLECTIONS: "3", APP_QUOTA_STORED_BYTES: "none", APP_QUOTA_MINTS: "9" };
    await runCli(settings, "app", "create", "new");
    await runCli(env(), "app", "create", "usual");
    const limitsOf = async (app: string) => {
      const { quotas } = await jsonOfCli<{ quotas: QuotaUse }>(settings, "app", "quota", app);
      return Object.values(quotas).map(({ limit }) => limit);
    };
    expect(await limitsOf("new")).to.deep.equal([null, null, null, null, 3, 9, 100]);
    expect(await limitsOf("usual")).to.deep.equal([null, null, null, 1_000_000_000, 200, null, 100]);
    expect(await limitsOf("first")).to.deep.equal(Array.from({ length: 7 }, () => null));
    const wrong = { ...env(), APP_QUOTA_COLLECTIONS: "-1" };
    const { message } = await refusalOf(runCli(wrong, "app", "create", "third"));
    expect(message).to.contain("APP_QUOTA_COLLECTIONS: must be none, or a whole number from 0 to 9007199254740991");
    await refusalOf(runCli(env(), "app", "quota", "third"));
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
