import { expect } from "chai";

import { secondsOfDayLeft } from "../../../api/domain/day.ts";
import { estimateGas, measurementFromSlotPrice, UNMEASURED_GAS } from "../../../api/domain/gas-estimate.ts";
import { writeGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import { chargeAgain } from "../../../api/store/requests/gas-usage.ts";
import { addCollection, addWallet } from "../support/api-rows.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { creation, randomAddress, requestRow } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

const MINT = estimateGas({ kind: "mint-erc721", collection: "", to: "", metadata: null });

describe("gas budget of an app per day", () => {
  const api = useApi({ appGasPerDay: 3 * MINT });
  let collection: string;
  beforeEach(async () => {
    collection = await addCollection(api);
  });

  const mint = (headers: Record<string, string> = {}) =>
    api.post("/v1/nfts", { collection_address: collection, to_address: randomAddress() }, { headers });
  const used = async (app = api.app.id) => {
    const rows = await api.database.read.selectFrom("gas_usage").select("used").where("app_id", "=", app).execute();
    return rows.map((row) => row.used);
  };

  it("accepts exactly as many concurrent requests as the budget allows", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => mint()));
    const refused = answers.filter((answer) => answer.status !== 200);
    expect(refused).to.have.length(7);
    for (const answer of refused) expectRefusal(answer, 429, "quota_exceeded");
    expect(await used()).to.deep.equal([3 * MINT]);
  });

  it("answers with the seconds until the next day, and stores nothing of a refused request", async () => {
    for (let count = 0; count < 3; count++) expectAccepted(await mint());
    const before = secondsOfDayLeft(Date.now());
    const refused = await mint({ "idempotency-key": "again" });
    const left = Number(refused.headers.get("retry-after"));
    expect(left).to.be.within(secondsOfDayLeft(Date.now()), before);
    expect((await api.get("/v1/requests?status=pending")).body.total).to.equal(3);
    expect(await api.database.read.selectFrom("idempotency_keys").select("key").execute()).to.deep.equal([]);
    const { reserved } = await api.database.read
      .selectFrom("collections")
      .select("reserved")
      .where("address", "=", collection)
      .executeTakeFirstOrThrow();
    expect(reserved).to.equal(3);
  });

  it("is separate for each app, and counts only calls that reach the chain", async () => {
    for (let count = 0; count < 3; count++) await mint();
    expectRefusal(await mint(), 429, "quota_exceeded");
    expect((await api.post("/v1/accounts", {})).status).to.equal(200);
    const theirs = { type: "ERC1155", name: "A", symbol: "AAA" };
    expectAccepted(await api.post("/v1/collections", theirs, { token: api.other.token }));
    expect(await used(api.other.id)).to.deep.equal([
      estimateGas({ ...creation(), type: "ERC1155", name: "A", symbol: "AAA" }),
    ]);
  });

  it("is not charged for a refused call, and charged once for a repeated call", async () => {
    const body = { collection_address: collection, to_address: randomAddress(), quantity: 1 };
    expectRefusal(await api.post("/v1/nfts", body), 422, "wrong_collection_type");
    expectInvalid(await api.post("/v1/nfts", { collection_address: collection }), {
      to_address: "required",
      to_user: "required",
    });
    const wallet = await addWallet(api);
    const transfer = { from_address: wallet, to_address: randomAddress(), contract_address: collection, token_id: 9 };
    expectRefusal(await api.post("/v1/transfers", transfer), 422, "token_not_found");
    const again = { collection_address: collection, to_address: randomAddress() };
    for (let count = 0; count < 3; count++) {
      expectAccepted(await api.post("/v1/nfts", again, { headers: { "idempotency-key": "one" } }));
    }
    expect(await used()).to.deep.equal([MINT]);
  });

  it("charges what calls cost on the chain as it was measured, and each request as when it was accepted", async () => {
    const measured = measurementFromSlotPrice(60_000);
    const first = expectAccepted(await mint());
    await api.database.write((trx) => writeGasMeasurement(trx, measured, null));
    const expensive = estimateGas({ kind: "mint-erc721", collection: "", to: "", metadata: null }, measured);
    expect(expensive).to.be.within(MINT + 1, 3 * MINT);
    expectRefusal(await mint(), 429, "quota_exceeded");
    expect(await used()).to.deep.equal([MINT]);
    const theirs = await addCollection(api, { app: api.other.id });
    const body = { collection_address: theirs, to_address: randomAddress() };
    const second = expectAccepted(await api.post("/v1/nfts", body, { token: api.other.token }));
    expect(await used(api.other.id)).to.deep.equal([expensive]);
    await api.database.write(async (trx) => {
      await writeGasMeasurement(trx, measurementFromSlotPrice(30_000), null);
      await chargeAgain(
        trx,
        [first, second].map((id) => ({ id, gas_day: 1 })),
      );
    });
    expect([...(await used()), ...(await used(api.other.id))]).to.deep.equal([MINT, expensive]);
  });

  it("starts again each day", async () => {
    for (let count = 0; count < 3; count++) await mint();
    await api.database.write((trx) =>
      trx
        .updateTable("gas_usage")
        .set((eb) => ({ day: eb("day", "-", 1) }))
        .execute(),
    );
    expectAccepted(await mint());
    expect((await used()).sort((a, b) => a - b)).to.deep.equal([MINT, 3 * MINT]);
  });
});

describe("gas of an app without a budget", () => {
  const api = useApi();

  it("is not counted", async () => {
    const collection = await addCollection(api);
    const id = expectAccepted(
      await api.post("/v1/nfts", { collection_address: collection, to_address: randomAddress() }),
    );
    expect(await api.database.read.selectFrom("gas_usage").selectAll().execute()).to.deep.equal([]);
    expect(await requestRow(api.database, id)).to.include({ gas_charged: null });
  });
});

describe("estimateGas", () => {
  it("grows with the stored data", () => {
    const token = {
      kind: "create-erc1155",
      collection: "",
      to: "",
      tokenId: "1",
      quantity: "1",
      metadata: null,
    } as const;
    // Two words of text and one of its length, and the bytes in the calldata.
    const { each } = UNMEASURED_GAS.createErc1155;
    expect(estimateGas({ ...token, uri: "x".repeat(33) })).to.equal(
      estimateGas({ ...token, uri: null }) + 3 * each + 33 * 16,
    );
    const named = (name: string) => estimateGas({ ...creation(), name });
    expect(named("x".repeat(101)) - named("x")).to.be.closeTo(100 * (UNMEASURED_GAS.createCollection.each + 16), 1);
  });
});
