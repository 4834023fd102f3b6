import { expect } from "chai";

import { issueToken } from "../../../api/commands/api-tokens.ts";
import { setQuotas } from "../../../api/store/apps/quotas.ts";
import type { Shape } from "../../../client/client.ts";
import type { Answer, Tenant } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { outcomes, resultsOf, times } from "../support/batches.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

describe("to_user", () => {
  const api = useApi();
  let contract: string;
  beforeEach(async () => {
    contract = await addCollection(api);
  });

  const mint = (fields: object, options: Partial<Tenant> & { headers?: Record<string, string> } = {}) =>
    api.post("/v1/nfts", { collection_address: contract, ...fields }, options);
  const mintAll = (items: object[], options: Partial<Tenant> = {}) =>
    api.post("/v1/nfts/batch", { items: items.map((item) => ({ collection_address: contract, ...item })) }, options);
  const wallets = async (token = api.app.token) => (await api.get("/v1/accounts", { token })).body.total;
  const requests = async () => (await api.get("/v1/requests?status=pending")).body.total;
  const created = async () => ((await api.get("/v1/usage")).body as unknown as Shape<"Usage">).total.wallets_created;
  const setWallets = (limit: number | null) =>
    api.database.write((trx) => setQuotas(trx, api.app.id, { wallets: limit }));

  async function walletOf(user: string, token = api.app.token): Promise<string | undefined> {
    return (await api.get(`/v1/accounts/user/${encodeURIComponent(user)}`, { token })).body.address;
  }

  /** The destination of the request that was accepted. */
  async function destinationOf(answer: Answer): Promise<string> {
    const { command } = await storedRequest(api, expectAccepted(answer));
    return (command as { to: string }).to;
  }

  it("gives the token to the user's wallet, and creates the wallet that does not exist", async () => {
    const first = await destinationOf(await mint({ to_user: "ana" }));
    expect(first).to.equal(await walletOf("ana"));
    const existing = (await api.post("/v1/accounts", { user_identifier: "ben" })).body.address;
    expect(await destinationOf(await mint({ to_user: "ben" }))).to.equal(existing);
    expect(await destinationOf(await mint({ to_user: "ana" }))).to.equal(first);
    expect(await wallets()).to.equal(2);
    expectRefusal(await api.post("/v1/accounts", { user_identifier: "ana" }), 422, "user_identifier_taken");
    expect(await created()).to.equal(2);
  });

  it("gives the same address as POST /v1/accounts, also for text that is not ASCII", async () => {
    const user = "Zoë 🐈 ../..";
    const address = await destinationOf(await mint({ to_user: user }));
    await api.database.write((trx) => trx.deleteFrom("wallets").where("user_identifier", "=", user).execute());
    expect((await api.post("/v1/accounts", { user_identifier: user })).body).to.deep.equal({
      address,
      user_identifier: user,
      watch_only: false,
    });
  });

  it("stands for the destination of every kind of mint and of a transfer", async () => {
    const wallet = await addWallet(api);
    const editions = await addCollection(api, { type: "ERC1155" });
    await addMint(api, { contract: editions, to: wallet, tokenId: 1, quantity: 5, type: "ERC1155" });
    const created = { collection_address: editions, token_id: 2, initial_supply: 3, to_user: "ana" };
    const more = { collection_address: editions, token_id: 1, quantity: 3, to_user: "ana" };
    const moved = { from_address: wallet, contract_address: editions, token_id: 1, amount: 1, to_user: "ana" };
    const answers = [
      await api.post("/v1/nfts", created),
      await api.post("/v1/nfts", more),
      await api.post("/v1/transfers", moved),
    ];
    const ana = await walletOf("ana");
    for (const answer of answers) expect(await destinationOf(answer)).to.equal(ana);
    const batch = await api.post("/v1/transfers/batch", { items: [moved, { ...moved, to_user: "ben" }] });
    expect(outcomes(batch)).to.deep.equal(["ok", "ok"]);
    expect(await walletOf("ben")).to.be.a("string");
  });

  it("excludes the address: both or none of them are refused by name", async () => {
    const wallet = await addWallet(api);
    const editions = await addCollection(api, { type: "ERC1155" });
    const address = randomAddress();
    const bodies = [
      ["to_address", "/v1/nfts", { collection_address: contract }],
      ["initial_owner", "/v1/nfts", { collection_address: editions, token_id: 1, initial_supply: 1 }],
      ["to_address", "/v1/nfts", { collection_address: editions, token_id: 1, quantity: 1 }],
      ["to_address", "/v1/transfers", { from_address: wallet, contract_address: contract, token_id: 1 }],
    ] as const;
    for (const [field, path, body] of bodies) {
      expectInvalid(await api.post(path, { ...body, [field]: null }), { [field]: "required", to_user: "required" });
      const both = await api.post(path, { ...body, [field]: address, to_user: "ana" });
      expectInvalid(both, { [field]: "conflict", to_user: "conflict" });
    }
    expect(await walletOf("ana")).to.equal(undefined);
  });

  it("must be a valid user identifier", async () => {
    for (const [user, code] of [
      ["x".repeat(257), "too_long"],
      ["..", "invalid_format"],
      ["\u0000", "invalid_format"],
      [7, "wrong_type"],
    ] as const) {
      expectInvalid(await mint({ to_user: user }), { to_user: code });
      const transfer = { from_address: randomAddress(), contract_address: contract, token_id: 1, to_user: user };
      expectInvalid(await api.post("/v1/transfers", transfer), { to_user: code });
    }
  });

  it("makes no user of a name that is an address or an ENS name, and finds such a user who has a wallet", async () => {
    const holder = await addWallet(api);
    const address = randomAddress();
    const moved = { from_address: holder, contract_address: contract, token_id: 1 };
    await addMint(api, { contract, to: holder, tokenId: 1 });
    for (const user of [address, `\u200b${address}`, `eth:${address}`, address.slice(2), "alice.eth"]) {
      expectInvalid(await mint({ to_user: user }), { to_user: "not_a_user" });
      expect(outcomes(await mintAll([{ to_user: user }, { to_address: holder }]))).to.deep.equal([
        "validation_failed to_user",
        "ok",
      ]);
      expectInvalid(await api.post("/v1/transfers", { ...moved, to_user: user }), { to_user: "not_a_user" });
      expect(await walletOf(user)).to.equal(undefined);
    }
    expect((await mint({ to_user: `eth:${address}` })).text).to.contain(`Send ${address} as the address`);
    const { body } = await api.post("/v1/accounts", { user_identifier: address });
    expect(await destinationOf(await mint({ to_user: address }))).to.equal(body.address);
  });

  it("makes no user of a name with control characters, and finds such a user of an earlier version", async () => {
    const user = "old\u001bname";
    expectInvalid(await mint({ to_user: user }), { to_user: "invalid_format" });
    const { body } = await api.post("/v1/accounts", { user_identifier: "old" });
    await api.database.write((trx) =>
      trx.updateTable("wallets").set({ user_identifier: user }).where("user_identifier", "=", "old").execute(),
    );
    expect(await destinationOf(await mint({ to_user: user }))).to.equal(body.address);
  });

  it("creates nothing for a request that is refused", async () => {
    const capped = await addCollection(api, { cap: 1 });
    expectAccepted(await mint({ collection_address: capped, to_user: "ana" }));
    expectRefusal(await mint({ collection_address: capped, to_user: "ben" }), 422, "supply_exceeded");
    expectRefusal(await mint({ collection_address: randomAddress(), to_user: "ben" }), 422, "collection_not_found");
    const full = { collection_address: capped };
    expect(outcomes(await mintAll([{ ...full, to_user: "ben" }, { to_user: "cid" }]))).to.deep.equal([
      "supply_exceeded collection_address",
      "ok",
    ]);
    expect(await walletOf("ben")).to.equal(undefined);
    expect(await wallets()).to.equal(2);
  });

  it("creates one wallet for a user whom several items or concurrent calls name", async () => {
    const results = resultsOf(await mintAll([...times(5, { to_user: "ana" }), { to_user: "ben" }]));
    expect(results.filter(({ request_id: id }) => id !== undefined)).to.have.length(6);
    expect(await wallets()).to.equal(2);

    const calls = times(20, null).map(() => mint({ to_user: "cid" }));
    const accounts = times(5, null).map(() => api.post("/v1/accounts", { user_identifier: "cid" }));
    const destinations = await Promise.all((await Promise.all(calls)).map(destinationOf));
    expect(new Set(destinations)).to.deep.equal(new Set([await walletOf("cid")]));
    for (const answer of await Promise.all(accounts)) {
      if (answer.status !== 200) expectRefusal(answer, 422, "user_identifier_taken");
    }
    expect(await wallets()).to.equal(3);
    expect(await created()).to.equal(3);
  });

  it("answers a repeated call with the first request, and creates nothing again", async () => {
    const headers = { "idempotency-key": "one" };
    const id = expectAccepted(await mint({ to_user: "ana" }, { headers }));
    expect(expectAccepted(await mint({ to_user: "ana" }, { headers }))).to.equal(id);
    expectRefusal(await mint({ to_user: "ben" }, { headers }), 409, "idempotency_key_reused");
    const again = times(10, null).map(() => mint({ to_user: "cid" }, { headers: { "idempotency-key": "two" } }));
    expect(new Set((await Promise.all(again)).map(expectAccepted)).size).to.equal(1);
    expect([await wallets(), await requests()]).to.deep.equal([2, 2]);
  });

  describe("given a token without the scope `accounts`", () => {
    it("is refused, also for a user with a wallet; items without it are accepted", async () => {
      const wallet = await addWallet(api);
      await api.post("/v1/accounts", { user_identifier: "ben" });
      const scopes = ["mint", "transfer"] as const;
      const { token } = await issueToken(api, { appId: api.app.id, name: "mints", scopes, expiresAt: null });
      for (const user of ["ana", "ben"]) {
        const answer = await mint({ to_user: user }, { token });
        expectRefusal(answer, 403, "forbidden");
        expect((JSON.parse(answer.text) as { message: string }).message).to.contain(
          "`accounts`, which `to_user` needs",
        );
      }
      const transfer = { from_address: wallet, contract_address: contract, token_id: 1, to_user: "ana" };
      expectRefusal(await api.post("/v1/transfers", transfer, { token }), 403, "forbidden");
      const batch = await mintAll([{ to_user: "ana" }, { to_address: wallet }], { token });
      expect(outcomes(batch)).to.deep.equal(["forbidden", "ok"]);
      expect(outcomes(await api.post("/v1/transfers/batch", { items: [transfer] }, { token }))).to.deep.equal([
        "forbidden",
      ]);
      expect(await wallets()).to.equal(2);
    });
  });

  describe("given a quota for wallets", () => {
    it("needs room for a new wallet only, as POST /v1/accounts does", async () => {
      await setWallets(1);
      expectAccepted(await mint({ to_user: "ana" }));
      const answer = await mint({ to_user: "ben" });
      expectRefusal(answer, 429, "quota_exceeded");
      expect(answer.text).to.equal((await api.post("/v1/accounts", { user_identifier: "ben" })).text);
      expect(answer.headers.get("retry-after")).to.equal("3600");
      expectAccepted(await mint({ to_user: "ana" }));
      expect([await wallets(), await requests()]).to.deep.equal([1, 2]);
    });

    it("creates exactly as many wallets as the quota allows, in a batch and under concurrent calls", async () => {
      await setWallets(3);
      const items = ["ana", "ana", "ben", "ana", "cid", "dan", "ben", "eve"].map((user) => ({ to_user: user }));
      const batch = await mintAll(items);
      expect(outcomes(batch).map((outcome, index) => [items[index]?.to_user, outcome])).to.deep.equal([
        ["ana", "ok"],
        ["ana", "ok"],
        ["ben", "ok"],
        ["ana", "ok"],
        ["cid", "ok"],
        ["dan", "quota_exceeded"],
        ["ben", "ok"],
        ["eve", "quota_exceeded"],
      ]);
      await setWallets(5);
      const users = Array.from({ length: 12 }, (_, index) => `user ${Math.floor(index / 2).toString()}`);
      const answers = await Promise.all(users.map((user) => mint({ to_user: user })));
      const accepted = users.filter((_, index) => answers[index]?.status === 200);
      expect(new Set(accepted).size).to.equal(2);
      expect(accepted).to.have.length(4);
      expect(await wallets()).to.equal(5);
    });
  });
});
