import { expect } from "chai";

import { DEFAULT_LIMITS } from "../../../api/config/limits.ts";
import { keyOf } from "../../../api/commands/idempotency.ts";
import { orderedId } from "../../../api/shared/ids.ts";
import { insertAnswers } from "../../../api/store/apps/idempotency.ts";
import { addToCounter, counterKeys } from "../../../api/store/db/counters.ts";
import { writeMeta } from "../../../api/store/db/meta.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { useApi } from "../support/use-api.ts";
import { outcomes } from "../support/batches.ts";
import { expectRefusal } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";

describe("POST /v1/transfers/batch", () => {
  const api = useApi({ per: "block" });
  let wallet: string;
  const to = randomAddress();
  before(async () => {
    wallet = await addWallet(api);
  });

  const transfer = (items: unknown) => api.post("/v1/transfers/batch", { items });
  const send = (contract: string, tokenId: number, fields: object = {}) => ({
    from_address: wallet,
    to_address: to,
    contract_address: contract,
    token_id: tokenId,
    ...fields,
  });

  /** A contract of others, in which the wallet has copies of the token 1. @returns its address. */
  const copies = (quantity: bigint) => api.foreign.addToken(wallet, { type: "ERC1155", quantity });

  it("decides the items in their order", async () => {
    const contract = await addCollection(api);
    for (const tokenId of [1, 2]) await addMint(api, { contract, to: wallet, tokenId });
    const items = [
      send(contract, 1),
      send(contract, 1),
      send(contract, 3),
      send(contract, 2, { from_address: randomAddress() }),
      send(contract, 2, { amount: 2 }),
      send(contract, 2),
    ];
    expect(outcomes(await transfer(items))).to.deep.equal([
      "ok",
      "token_busy token_id",
      "token_not_found token_id",
      "wallet_not_found from_address",
      "validation_failed amount",
      "ok",
    ]);
  });

  it("follows a contract of others once, and reads each of them and each balance once", async () => {
    const contract = copies(3n);
    api.foreign.give(contract, "2", wallet, 1n);
    const [unsupported, failing] = [randomAddress(), api.foreign.addToken(wallet)];
    api.foreign.failing.add(failing);
    const calls = api.foreign.calls;
    const answer = await transfer([
      send(contract, 1, { amount: 2 }),
      send(unsupported, 1),
      send(contract, 1, { amount: 2 }),
      send(failing, 1),
      send(contract, 2, { amount: 1 }),
      send(contract, 9, { amount: 1 }),
      send(contract, 1, { amount: 1 }),
      send(unsupported, 2),
    ]);
    expect(outcomes(answer)).to.deep.equal([
      "ok",
      "contract_not_supported contract_address",
      "insufficient_balance token_id",
      "contract_not_supported contract_address",
      "ok",
      "insufficient_balance token_id",
      "ok",
      "contract_not_supported contract_address",
    ]);
    // Three contracts, and the balances of four tokens.
    expect(api.foreign.calls - calls).to.equal(7);
    const followed = ((await api.get("/v1/contracts")).body.contracts ?? []).map(({ address }) => address);
    expect(followed).to.include(contract).and.to.not.include(unsupported).and.to.not.include(failing);
  });

  it("follows no contract whose transfers are all refused", async () => {
    const [refused, accepted] = [copies(1n), copies(1n)];
    const total = (await api.get("/v1/contracts")).body.total ?? 0;
    const answer = await transfer([
      send(refused, 1, { amount: 2 }),
      send(accepted, 1, { amount: 1 }),
      send(accepted, 1, { amount: 1 }),
    ]);
    expect(outcomes(answer)).to.deep.equal(["insufficient_balance token_id", "ok", "insufficient_balance token_id"]);
    const { contracts = [], total: now } = (await api.get("/v1/contracts")).body;
    expect(now).to.equal(total + 1);
    expect(contracts.map(({ address }) => address))
      .to.include(accepted)
      .and.to.not.include(refused);
    const holdings = await api.database.read
      .selectFrom("holdings")
      .select(["contract", "reserved"])
      .where("contract", "in", [refused, accepted])
      .execute();
    expect(holdings).to.deep.equal([{ contract: accepted, reserved: "1" }]);
  });

  describe("given room for one contract", () => {
    async function transferWithRoomForOne(items: object[]): Promise<string[]> {
      const total = (await api.get("/v1/contracts")).body.total ?? 0;
      const taken = DEFAULT_LIMITS.contracts - total - 1;
      const take = (delta: number) =>
        api.database.write((trx) => addToCounter(trx, counterKeys.contracts(api.app.id), delta));
      await take(taken);
      const answer = await transfer(items);
      await take(-taken);
      return outcomes(answer);
    }

    it("refuses another one", async () => {
      const contracts = [api.foreign.addToken(wallet), api.foreign.addToken(wallet)];
      expect(await transferWithRoomForOne(contracts.map((contract) => send(contract, 1)))).to.deep.equal([
        "ok",
        "too_many_contracts contract_address",
      ]);
    });

    it("gives the room of a refused item's contract to another item", async () => {
      const items = [send(copies(1n), 1, { amount: 2 }), send(copies(1n), 1, { amount: 1 })];
      expect(await transferWithRoomForOne(items)).to.deep.equal(["insufficient_balance token_id", "ok"]);
    });
  });

  describe("given blocks that are stored while the balances are read", () => {
    afterEach(() => {
      api.foreign.beforeHoldings = null;
    });

    it("marks the balances to be read again", async () => {
      for (const moved of [false, true]) {
        const contract = api.foreign.addToken(wallet);
        api.foreign.beforeHoldings = async () => {
          if (moved) await api.database.write((trx) => writeMeta(trx, "checkpoint", "77"));
        };
        expect(outcomes(await transfer([send(contract, 1)]))).to.deep.equal(["ok"]);
        const marked = await api.database.read
          .selectFrom("uncertain_holdings")
          .select(["owner", "block"])
          .where("contract", "=", contract)
          .execute();
        expect(marked).to.deep.equal(moved ? [{ owner: wallet, block: 77 }] : []);
      }
    });
  });

  it("refuses only the items that need the chain while it is unavailable", async () => {
    const contract = await addCollection(api);
    await addMint(api, { contract, to: wallet, tokenId: 1 });
    api.foreign.down = true;
    const answer = await transfer([send(randomAddress(), 1), send(contract, 1)]);
    api.foreign.down = false;
    expect(outcomes(answer)).to.deep.equal(["unavailable", "ok"]);
    expect(answer.headers.get("retry-after")).to.equal("5");
  });

  describe("given a call whose reads of the chain fail", () => {
    afterEach(() => {
      api.foreign.down = false;
      api.foreign.beforeHoldings = null;
    });

    it("answers 503 when no item was accepted, and the key stays free", async () => {
      const contract = copies(10n);
      const body = { items: [send(contract, 1, { amount: 1 }), send(contract, 2, { from_address: randomAddress() })] };
      const call = () => api.post("/v1/transfers/batch", body, { headers: { "idempotency-key": "repeat-1" } });
      api.foreign.down = true;
      const refused = await call();
      expectRefusal(refused, 503, "unavailable");
      expect(refused.headers.get("retry-after")).to.equal("5");
      api.foreign.down = false;
      expect(outcomes(await call())).to.deep.equal(["ok", "wallet_not_found from_address"]);
    });

    it("answers what an equal call got that was accepted meanwhile", async () => {
      const body = { items: [send(copies(10n), 1, { amount: 1 })] };
      const call = { endpoint: "POST /v1/transfers/batch", text: JSON.stringify(body), value: body };
      const first = JSON.stringify({ results: [{ request_id: orderedId() }] });
      const caller = { appId: api.app.id, credential: null, idempotency: { key: "repeat-2", ...call } };
      const answer = { appId: api.app.id, ...keyOf(api, caller)!, response: first };
      // Another process accepts the first call while this one reads the chain.
      api.foreign.beforeHoldings = async () => {
        api.foreign.down = true;
        await api.database.write((trx) => insertAnswers(trx, [answer], Date.now()));
      };
      const repeat = await api.post("/v1/transfers/batch", body, { headers: { "idempotency-key": "repeat-2" } });
      expect(repeat.text).to.equal(first);
    });
  });
});
