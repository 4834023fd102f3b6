import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { addCollection, addMint, addMove, addWallet } from "../support/api-rows.ts";
import { outcomes } from "../support/batches.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

describe("POST /v1/burns", () => {
  const api = useApi({ per: "block" });
  let wallet: string;
  before(async () => {
    wallet = await addWallet(api);
  });

  const burn = (fields: object, options: object = {}) =>
    api.call("POST", "/v1/burns", { body: { from_address: wallet, ...fields }, ...options });
  const transfer = (fields: object) =>
    api.post("/v1/transfers", { from_address: wallet, to_address: randomAddress(), ...fields });

  describe("given a token of one of the service's collections", () => {
    it("stores a request of the type burn, which the wallet signs for the collection", async () => {
      const contract = await addCollection(api);
      await addMint(api, { contract, to: wallet, tokenId: 5 });
      const id = expectAccepted(await burn({ contract_address: contract, token_id: 5, reference: "gone" }));
      const row = await storedRequest(api, id);
      expect(row).to.include({ type: "burn", reference: "gone" });
      expect(row.command).to.deep.equal({
        ...{ kind: "burn", contract, contractType: "ERC721", foreign: false },
        ...{ from: wallet, tokenId: "5", quantity: "1" },
      });
      const { body } = await api.get("/v1/requests?type=burn");
      expect((body as { requests: { request_id: string }[] }).requests.map((one) => one.request_id)).to.include(id);
    });

    it("burns a token of the wallet of `from_user`", async () => {
      const contract = await addCollection(api);
      const { address = "" } = (await api.post("/v1/accounts", { user_identifier: "owner" })).body;
      await addMint(api, { contract, to: address, tokenId: 8 });
      const token = { contract_address: contract, token_id: 8, from_user: "owner" };
      expectInvalid(await burn(token), { from_address: "conflict", from_user: "conflict" });
      const id = expectAccepted(await burn({ ...token, from_address: undefined }));
      expect((await storedRequest(api, id)).command).to.include({ kind: "burn", from: address });
    });

    it("uses the wallet's delegate in a collection that has no signed burns", async () => {
      const contract = await addCollection(api, { signedBurns: false });
      await addMint(api, { contract, to: wallet, tokenId: 1 });
      api.foreign.calls = 0;
      const id = expectAccepted(await burn({ contract_address: contract, token_id: 1 }));
      expect((await storedRequest(api, id)).command).to.include({ kind: "burn", foreign: true });
      // Its holders are known, and it has the function.
      expect(api.foreign.calls).to.equal(0);
      expect((await api.get("/v1/contracts")).body.contracts).to.deep.equal([]);
    });

    it("burns soulbound tokens, which cannot be transferred", async () => {
      for (const type of ["ERC721", "ERC1155"] as const) {
        const contract = await addCollection(api, { type, soulbound: true });
        await addMint(api, { contract, to: wallet, tokenId: 1, type, quantity: 3 });
        const token = { contract_address: contract, token_id: 1, amount: 1 };
        expectRefusal(await transfer(token), 422, "not_transferable");
        expectAccepted(await burn(token));
      }
    });

    it("reserves the token: it is burnt or transferred once", async () => {
      const contract = await addCollection(api);
      for (const tokenId of [1, 2]) await addMint(api, { contract, to: wallet, tokenId });
      expectAccepted(await burn({ contract_address: contract, token_id: 1 }));
      expectAccepted(await transfer({ contract_address: contract, token_id: 2 }));
      for (const token_id of [1, 2]) {
        const token = { contract_address: contract, token_id };
        expectRefusal(await burn(token), 422, "token_busy", { token_id: "token_busy" });
        expectRefusal(await transfer(token), 422, "token_busy");
      }
    });

    it("reserves copies together with transfers", async () => {
      const contract = await addCollection(api, { type: "ERC1155" });
      await addMint(api, { contract, to: wallet, tokenId: 1, quantity: 10, type: "ERC1155" });
      const token = { contract_address: contract, token_id: 1 };
      expectAccepted(await burn({ ...token, amount: 6 }));
      expectRefusal(await transfer({ ...token, amount: 5 }), 422, "insufficient_balance");
      expectAccepted(await transfer({ ...token, amount: 3 }));
      expectRefusal(await burn({ ...token, amount: 2 }), 422, "insufficient_balance");
      expectInvalid(await burn(token), { amount: "required" });
      expectInvalid(await burn({ ...token, amount: 0 }), { amount: "too_small" });
    });

    it("refuses tokens that others hold, wallets of other apps, and tokens that do not exist", async () => {
      const contract = await addCollection(api);
      await addMint(api, { contract, to: wallet, tokenId: 1 });
      await addMove(api, { contract, tokenId: 1, from: wallet, to: randomAddress() });
      expectRefusal(await burn({ contract_address: contract, token_id: 1 }), 422, "insufficient_balance");
      expectRefusal(await burn({ contract_address: contract, token_id: 99 }), 422, "token_not_found");
      const theirs = await addWallet(api, api.other.token);
      await addMint(api, { contract, to: theirs, tokenId: 2 });
      for (const from_address of [theirs, randomAddress()]) {
        const answer = await burn({ from_address, contract_address: contract, token_id: 2 });
        expectRefusal(answer, 422, "wallet_not_found", { from_address: "wallet_not_found" });
      }
    });
  });

  it("refuses a receiver: nobody gets a burnt token", async () => {
    const fields = { contract_address: randomAddress(), token_id: 1 };
    expectInvalid(await burn({ ...fields, to_address: wallet }), { to_address: "unknown_field" });
    expectInvalid(await burn({ ...fields, to_user: "bob" }), { to_user: "unknown_field" });
    expectInvalid(await burn({ from_address: null }), {
      ...{ from_address: "required", from_user: "required", contract_address: "required", token_id: "required" },
    });
  });

  describe("given a contract of others", () => {
    it("reads it, follows it, and uses the wallet's delegate", async () => {
      const contract = api.foreign.addToken(wallet, { tokenId: "7" });
      const id = expectAccepted(await burn({ contract_address: contract, token_id: 7 }));
      expect((await storedRequest(api, id)).command).to.include({
        kind: "burn",
        foreign: true,
        contractType: "ERC721",
      });
      expect(JSON.stringify((await api.get("/v1/contracts")).body)).to.include(contract);
      expectRefusal(await burn({ contract_address: contract, token_id: 7 }), 422, "token_busy");
      const copies = api.foreign.addToken(wallet, { type: "ERC1155", tokenId: "7", quantity: 3n });
      expectRefusal(await burn({ contract_address: copies, token_id: 7, amount: 4 }), 422, "insufficient_balance");
      expectAccepted(await burn({ contract_address: copies, token_id: 7, amount: 3 }));
    });

    it("refuses one that has no burn function, and stores nothing", async () => {
      const contract = api.foreign.addToken(wallet, { tokenId: "7" });
      api.foreign.unburnable.add(contract);
      const answer = await burn({ contract_address: contract, token_id: 7 });
      expectRefusal(answer, 422, "contract_not_supported", { contract_address: "contract_not_supported" });
      expect(JSON.stringify((await api.get("/v1/contracts")).body)).to.not.include(contract);
      expectAccepted(await transfer({ contract_address: contract, token_id: 7 }));
    });
  });

  describe("given a chain without delegation (EIP-7702)", () => {
    before(() => {
      api.foreign.delegates = false;
    });
    after(() => {
      api.foreign.delegates = true;
    });

    it("refuses what needs a delegate, and burns by signature", async () => {
      const contract = api.foreign.addToken(wallet, { tokenId: "7" });
      const [old, present] = [await addCollection(api, { signedBurns: false }), await addCollection(api)];
      for (const own of [old, present]) await addMint(api, { contract: own, to: wallet, tokenId: 7 });
      for (const contract_address of [contract, old]) {
        const answer = await burn({ contract_address, token_id: 7 });
        expectRefusal(answer, 422, "not_supported_by_chain", { contract_address: "not_supported_by_chain" });
      }
      const moved = await transfer({ contract_address: contract, token_id: 7 });
      expectRefusal(moved, 422, "not_supported_by_chain");
      expectAccepted(await transfer({ contract_address: old, token_id: 7 }));
      expectAccepted(await burn({ contract_address: present, token_id: 7 }));
    });
  });
});

describe("POST /v1/burns/batch", () => {
  const api = useApi({ per: "block" });

  it("accepts each item for itself, and decides them in their order", async () => {
    const wallet = await addWallet(api);
    const contract = await addCollection(api);
    for (const tokenId of [1, 2]) await addMint(api, { contract, to: wallet, tokenId });
    const item = (token_id: number, fields: object = {}) => ({
      ...{ from_address: wallet, contract_address: contract, token_id },
      ...fields,
    });
    const items = [item(1), item(1), item(9), item(2, { amount: 2 }), item(2, { to_address: wallet }), item(2)];
    const answer = await api.post("/v1/burns/batch", { items });
    expect(outcomes(answer)).to.deep.equal([
      "ok",
      "token_busy token_id",
      "token_not_found token_id",
      "validation_failed amount",
      "validation_failed to_address",
      "ok",
    ]);
  });

  it("refuses only the items that need a delegate while the node does not say whether the chain has delegation", async () => {
    const wallet = await addWallet(api);
    const [old, present] = [await addCollection(api, { signedBurns: false }), await addCollection(api)];
    for (const contract of [old, present]) await addMint(api, { contract, to: wallet, tokenId: 1 });
    const items = [old, present].map((contract_address) => ({ from_address: wallet, contract_address, token_id: 1 }));
    api.foreign.down = true;
    const answer = await api.post("/v1/burns/batch", { items });
    const single = await api.post("/v1/burns", items[0]);
    api.foreign.down = false;
    expect(outcomes(answer)).to.deep.equal(["unavailable", "ok"]);
    expect(answer.headers.get("retry-after")).to.equal("5");
    expectRefusal(single, 503, "unavailable");
  });

  it("asks no contract of others to burn what the wallet does not hold", async () => {
    const wallet = await addWallet(api);
    const contract = api.foreign.addToken(wallet, { type: "ERC1155", quantity: 3n });
    api.foreign.unburnable.add(contract);
    const items = [
      { token_id: 1, amount: 4 },
      { token_id: 2, amount: 1 },
      { token_id: 1, amount: 3 },
    ].map((fields) => ({ from_address: wallet, contract_address: contract, ...fields }));
    const answer = await api.post("/v1/burns/batch", { items });
    expect(outcomes(answer)).to.deep.equal([
      "insufficient_balance token_id",
      "insufficient_balance token_id",
      "contract_not_supported contract_address",
    ]);
  });
});
