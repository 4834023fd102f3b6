import { expect } from "chai";

import { issueToken } from "../../../api/commands/api-tokens.ts";
import { NewWallets } from "../../../api/commands/create-wallet.ts";
import type { ApiError } from "../../../api/domain/error-codes.ts";
import { setUserIdentifiers } from "../../../api/store/apps/wallets.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { failRequest } from "../support/fail-request.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";
import { useApi } from "../support/use-api.ts";

describe("PATCH /v1/accounts/:address", () => {
  const api = useApi({ per: "block" });
  let token: string;
  before(async () => {
    token = (await issueToken(api, { appId: api.app.id, name: "users", scopes: ["users"], expiresAt: null })).token;
  });

  const create = async (user: string, by = api.app.token) =>
    (await api.post("/v1/accounts", { user_identifier: user }, { token: by })).body.address ?? "";
  const rename = (address: string, user: unknown) =>
    api.call("PATCH", `/v1/accounts/${address}`, { body: { user_identifier: user }, token });
  const walletOf = async (user: string) =>
    (await api.get(`/v1/accounts/user/${encodeURIComponent(user)}`)).body.address;

  it("gives the wallet another user, or none, and keeps the wallet", async () => {
    const address = await create("ann");
    const contract = await addCollection(api);
    await addMint(api, { contract, to: address, tokenId: 1 });
    const renamed = await rename(address.toLowerCase(), "anna");
    expect([renamed.status, renamed.body]).to.deep.equal([
      200,
      { address, user_identifier: "anna", watch_only: false },
    ]);
    expect([await walletOf("anna"), await walletOf("ann")]).to.deep.equal([address, undefined]);
    expect((await api.get(`/v1/accounts/${address}`)).body).to.include({ total: 1 });
    for (const none of [null, ""]) {
      expect((await rename(address, none)).body).to.deep.equal({ address, user_identifier: null, watch_only: false });
      expect(await walletOf("anna")).to.equal(undefined);
      expect((await rename(address, "anna")).status).to.equal(200);
    }
    const unnamed = await addWallet(api);
    expect((await rename(unnamed, "late")).body).to.deep.equal({
      address: unnamed,
      user_identifier: "late",
      watch_only: false,
    });
  });

  it("refuses a name that another wallet of the app has, and one that no new user may have", async () => {
    const [address] = [await create("carl"), await create("taken"), await create("elsewhere", api.other.token)];
    expectRefusal(await rename(address, "taken"), 422, "user_identifier_taken", {
      user_identifier: "user_identifier_taken",
    });
    for (const wrong of ["a\u001bb", ".", "x".repeat(257)])
      expectInvalid(await rename(address, wrong), {
        user_identifier: wrong.length > 9 ? "too_long" : "invalid_format",
      });
    expectInvalid(await rename(address, undefined), { user_identifier: "required" });
    expect(await walletOf("carl")).to.equal(address);
    for (const free of ["carl", "elsewhere"]) expect((await rename(address, free)).status).to.equal(200);
  });

  it("needs the scope `users`, which a token has only when it is named", async () => {
    const address = await create("dora");
    const call = (by: string) =>
      api.call("PATCH", `/v1/accounts/${address}`, { body: { user_identifier: "dorothy" }, token: by });
    const usual = await issueToken(api, { appId: api.app.id, name: "usual", scopes: null, expiresAt: null });
    expect(usual.scopes).to.not.include("users");
    for (const by of [api.app.token, usual.token]) expectRefusal(await call(by), 403, "forbidden");
    expect(await walletOf("dora")).to.equal(address);
  });

  it("does not know the wallets of other apps, nor foreign addresses", async () => {
    for (const address of [await create("theirs", api.other.token), randomAddress()])
      expectRefusal(await rename(address, "mine"), 404, "not_found");
  });

  it("frees the name: a wallet that is created for it gets an address of its own, each time", async () => {
    const addresses = new Set<string>();
    for (let turn = 0; turn < 11; turn++) {
      const address = await create("again");
      expect(await walletOf("again")).to.equal(address);
      addresses.add(address);
      await rename(address, `again ${turn.toString()}`);
    }
    expect(addresses.size).to.equal(11);
    expect([...addresses][3]).to.equal(await walletOf("again 3"));
  });

  it("sends what is for the freed name to the new user's wallet, not to the renamed one", async () => {
    const old = await create("erin");
    await rename(old, "former");
    const contract = await addCollection(api);
    const call = { collection_address: contract, to_user: "erin" };
    const ids = await Promise.all([1, 2].map(async () => expectAccepted(await api.post("/v1/nfts", call))));
    const now = (await walletOf("erin")) ?? "";
    expect(now).to.not.equal(old);
    for (const id of ids) expect((await storedRequest(api, id)).to_address).to.equal(now);
    expect(await walletOf("former")).to.equal(old);
  });

  it("changes the name in requests, in the feed, and in the payloads of deliveries", async () => {
    await api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/" } });
    const address = await create("fay");
    const contract = await addCollection(api);
    const id = expectAccepted(await api.post("/v1/nfts", { collection_address: contract, to_user: "fay" }));
    await failRequest(api, id);
    const read = async () => {
      const { deliveries } = (await api.get("/v1/webhook/deliveries")).body as { deliveries: { id: string }[] };
      const delivery = await api.get(`/v1/webhook/deliveries/${deliveries[0]?.id ?? ""}`);
      const { events } = (await api.get("/v1/events")).body as { events: object[] };
      const { payload } = delivery.body as unknown as { payload: string };
      return [(await api.get(`/v1/requests/${id}`)).body, events.at(-1), JSON.parse(payload)] as object[];
    };
    const concerns = { contract_address: contract, token_id: null, quantity: 1, from_address: null, from_user: null };
    for (const user of ["fay", "faye", null]) {
      await rename(address, user);
      for (const one of await read()) expect(one).to.deep.include({ ...concerns, to_address: address, to_user: user });
    }
    const { body } = await api.database.read
      .selectFrom("events")
      .select("body")
      .where("request_id", "=", id)
      .executeTakeFirstOrThrow();
    expect(body).to.include(address).and.not.include("fay").and.not.include("_user");
    // As an earlier version stored it.
    const old = { request_type: "mint", transaction_hash: null, created_at: "2026-01-01T00:00:00.000Z" };
    const stored = { id: "1", type: "error", request_id: id, ...old };
    await api.database.write((trx) =>
      trx
        .updateTable("events")
        .set({ body: JSON.stringify(stored) })
        .where("request_id", "=", id)
        .execute(),
    );
    expect((await read()).slice(1)).to.deep.equal([stored, stored]);
  });

  describe("given a call that was checked before the wallet was renamed", () => {
    const derive = async (user: string) => ({
      appId: api.app.id,
      userIdentifier: user,
      address: await create(user),
      path: "1/2/3",
    });

    it("stores nothing while the address belongs to another user", async () => {
      const wanted = await derive("gina");
      const stored = api.database.write(async (trx) => {
        await setUserIdentifiers(trx, [{ address: wanted.address, user_identifier: "regina" }]);
        const wallets = await NewWallets.read(trx, [wanted]);
        wallets.add(wanted);
        await wallets.store(trx, Date.now());
      });
      const error = await stored.then(
        () => null,
        (reason: unknown) => reason as ApiError,
      );
      expect(error?.errorCode).to.equal("unavailable");
    });

    it("refuses the call when the user has another wallet now", async () => {
      const wanted = { ...(await derive("hugo")), address: randomAddress() };
      const elsewhere = await api.database.write(async (trx) =>
        (await NewWallets.read(trx, [wanted])).isElsewhere(wanted),
      );
      expect(elsewhere).to.equal(true);
    });
  });
});
