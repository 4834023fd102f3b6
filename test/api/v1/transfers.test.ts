import { expect } from "chai";

import { DEFAULT_LIMITS } from "../../../api/config/limits.ts";
import { addToCounter, counterKeys } from "../../../api/store/db/counters.ts";
import { RELAY } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addMove, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { outcomes } from "../support/batches.ts";
import { storedRequest } from "../support/stored-request.ts";

describe("POST /v1/transfers", () => {
  const api = useApi({ per: "block" });
  let wallet: string;
  let erc721: string;
  let erc1155: string;
  const to = randomAddress();
  before(async () => {
    wallet = await addWallet(api);
    erc721 = await addCollection(api);
    erc1155 = await addCollection(api, { type: "ERC1155" });
  });

  const transfer = (fields: object) => api.post("/v1/transfers", { from_address: wallet, to_address: to, ...fields });

  const acceptedRow = async (fields: object) => storedRequest(api, expectAccepted(await transfer(fields)));

  describe("ERC721", () => {
    for (const [title, amount] of [
      ["left out", undefined],
      ["null", null],
      ["blank", ""],
      ["1", 1],
      ['"1"', "1"],
    ] as const) {
      it(`accepts an amount that is ${title}`, async () => {
        const contract = await addCollection(api);
        await addMint(api, { contract, to: wallet, tokenId: 5 });
        const row = await acceptedRow({ contract_address: contract.toLowerCase(), token_id: "5", amount });
        expect(row).to.include({ type: "transfer", nft_collection: contract, nft_token_id: "5" });
        expect(row.command).to.deep.equal({
          kind: "transfer",
          contract,
          contractType: "ERC721",
          foreign: false,
          from: wallet,
          to,
          tokenId: "5",
          quantity: "1",
        });
      });
    }

    it("refuses an amount other than 1", async () => {
      await addMint(api, { contract: erc721, to: wallet, tokenId: 1 });
      expectInvalid(await transfer({ contract_address: erc721, token_id: 1, amount: 2 }), { amount: "too_big" });
      expectInvalid(await transfer({ contract_address: erc721, token_id: 1, amount: 0 }), { amount: "too_small" });
    });

    it("refuses a token with a pending transfer", async () => {
      await addMint(api, { contract: erc721, to: wallet, tokenId: 2 });
      expectAccepted(await transfer({ contract_address: erc721, token_id: 2 }));
      const again = await transfer({ contract_address: erc721, token_id: 2 });
      expectRefusal(again, 422, "token_busy", { token_id: "token_busy" });
    });

    it("distinguishes a token held elsewhere from one that does not exist", async () => {
      await addMint(api, { contract: erc721, to: wallet, tokenId: 3 });
      await addMove(api, { contract: erc721, tokenId: 3, from: wallet, to });
      expectRefusal(await transfer({ contract_address: erc721, token_id: 3 }), 422, "insufficient_balance");
      const absent = await transfer({ contract_address: erc721, token_id: 999 });
      expectRefusal(absent, 422, "token_not_found", { token_id: "token_not_found" });
    });
  });

  describe("ERC1155", () => {
    it("subtracts pending transfers from the balance", async () => {
      const tokenId = (2n ** 256n - 1n).toString();
      await addMint(api, { contract: erc1155, to: wallet, tokenId: BigInt(tokenId), quantity: 10, type: "ERC1155" });
      const send = (amount: number) => transfer({ contract_address: erc1155, token_id: tokenId, amount });
      expectAccepted(await send(6));
      expectRefusal(await send(5), 422, "insufficient_balance");
      expectAccepted(await send(4));
      expectRefusal(await send(1), 422, "insufficient_balance");
    });

    it("requires an amount", async () => {
      await addMint(api, { contract: erc1155, to: wallet, tokenId: 1, quantity: 1, type: "ERC1155" });
      for (const amount of [undefined, null, ""]) {
        expectInvalid(await transfer({ contract_address: erc1155, token_id: 1, amount }), { amount: "required" });
      }
    });
  });

  it("transfers a token of another app's collection out of this app's wallet", async () => {
    const contract = await addCollection(api, { app: api.other.id });
    await addMint(api, { contract, to: wallet, tokenId: 1, app: api.other.id });
    expectAccepted(await transfer({ contract_address: contract, token_id: 1 }));
  });

  for (const [title, fields, refusal] of [
    [
      "without its fields",
      { from_address: null, to_address: null },
      {
        from_address: "required",
        from_user: "required",
        to_address: "required",
        to_user: "required",
        contract_address: "required",
        token_id: "required",
      },
    ],
    [
      "to the zero address",
      { to_address: `0x${"0".repeat(40)}`, contract_address: to, token_id: 1 },
      { to_address: "zero_address" },
    ],
    ["with text as amount", { contract_address: to, token_id: 1, amount: "many" }, { amount: "wrong_type" }],
    ["with a typo", { contract_address: to, token_id: 1, ammount: 1 }, { ammount: "unknown_field" }],
  ] as const) {
    it(`refuses one ${title}`, async () => {
      expectInvalid(await transfer(fields), refusal);
    });
  }

  describe("given from_user in place of from_address", () => {
    const move = (fields: object) => api.post("/v1/transfers", { to_address: to, contract_address: erc721, ...fields });

    it("transfers out of the wallet of the app's user", async () => {
      const { address = "" } = (await api.post("/v1/accounts", { user_identifier: "seller" })).body;
      await api.post("/v1/accounts", { user_identifier: "seller" }, { token: api.other.token });
      await addMint(api, { contract: erc721, to: address, tokenId: 60 });
      const row = await storedRequest(api, expectAccepted(await move({ from_user: "seller", token_id: 60 })));
      expect(row.command).to.include({ kind: "transfer", from: address, tokenId: "60" });
    });

    it("refuses a user without a wallet, creates none, and a user of another app", async () => {
      await api.post("/v1/accounts", { user_identifier: "theirs" }, { token: api.other.token });
      for (const user of ["nobody", "theirs"])
        expectRefusal(await move({ from_user: user, token_id: 1 }), 422, "wallet_not_found", {
          from_user: "wallet_not_found",
        });
      expect((await api.get("/v1/accounts/user/nobody")).status).to.equal(404);
    });

    it("refuses both fields, also in an item of a batch", async () => {
      const both = { from_user: "seller", from_address: wallet, token_id: 1 };
      const conflict = { from_address: "conflict", from_user: "conflict" };
      expectInvalid(await move(both), conflict);
      const { address = "" } = (await api.get("/v1/accounts/user/seller")).body;
      await addMint(api, { contract: erc721, to: address, tokenId: 61 });
      const item = { to_address: to, contract_address: erc721, token_id: 61 };
      const answer = await api.post("/v1/transfers/batch", {
        items: [
          { ...item, ...both },
          { ...item, from_user: "nobody" },
          { ...item, from_user: "seller" },
        ],
      });
      expect(outcomes(answer)).to.deep.equal([
        "validation_failed from_address from_user",
        "wallet_not_found from_user",
        "ok",
      ]);
    });
  });

  describe("given a soulbound collection", () => {
    it("refuses with not_transferable, whoever holds the token", async () => {
      for (const type of ["ERC721", "ERC1155"] as const) {
        const contract = await addCollection(api, { type, soulbound: true });
        await addMint(api, { contract, to: wallet, tokenId: 1, type, quantity: 3 });
        const answer = await transfer({ contract_address: contract, token_id: 1, amount: 1 });
        expectRefusal(answer, 422, "not_transferable", { contract_address: "not_transferable" });
      }
    });

    it("refuses a wallet of another app as for every collection", async () => {
      const contract = await addCollection(api, { soulbound: true });
      const theirs = await addWallet(api, api.other.token);
      const answer = await transfer({ from_address: theirs, contract_address: contract, token_id: 1 });
      expectRefusal(answer, 422, "wallet_not_found", { from_address: "wallet_not_found" });
    });
  });

  describe("given the relay as destination", () => {
    it("refuses a transfer of any token", async () => {
      await addMint(api, { contract: erc721, to: wallet, tokenId: 77 });
      const foreign = api.foreign.addToken(wallet, { tokenId: "77" });
      for (const contract of [erc721, foreign]) {
        const answer = await transfer({ to_address: RELAY, contract_address: contract, token_id: 77 });
        expectInvalid(answer, { to_address: "relay_address" });
      }
    });
  });

  describe("given a foreign contract", () => {
    it("reads its type and the token's holder, and follows it from then on", async () => {
      const contract = api.foreign.addToken(wallet, { tokenId: "7", name: "Elsewhere" });
      const row = await acceptedRow({ contract_address: contract, token_id: 7 });
      expect(row.command).to.include({ foreign: true, contractType: "ERC721", contract, tokenId: "7" });
      const followed = await api.database.read
        .selectFrom("foreign_contracts")
        .selectAll()
        .where("address", "=", contract)
        .executeTakeFirstOrThrow();
      expect(followed).to.include({ name: "Elsewhere", state: "followed" });
      expect((await api.get("/v1/contracts")).body.contracts?.[0]).to.include({ address: contract });
      expectRefusal(await transfer({ contract_address: contract, token_id: 7 }), 422, "token_busy");
    });

    it("refuses tokens that do not exist or are held elsewhere", async () => {
      const contract = api.foreign.addToken(randomAddress());
      api.foreign.copies.set(`${contract}/1/${wallet}`, 0n);
      expectRefusal(await transfer({ contract_address: contract, token_id: 1 }), 422, "insufficient_balance");
      expectRefusal(await transfer({ contract_address: contract, token_id: 2 }), 422, "token_not_found");
    });

    it("refuses a token when the contract does not say who holds it, or when the app follows too many", async () => {
      const contract = api.foreign.addToken(wallet);
      api.foreign.failing.add(contract);
      expectRefusal(await transfer({ contract_address: contract, token_id: 1 }), 422, "contract_not_supported");
      api.foreign.failing.delete(contract);
      const counter = { key: counterKeys.contracts(api.app.id), delta: DEFAULT_LIMITS.contracts };
      await api.database.write((trx) => addToCounter(trx, counter.key, counter.delta));
      expectRefusal(await transfer({ contract_address: contract, token_id: 1 }), 422, "too_many_contracts");
      await api.database.write((trx) => addToCounter(trx, counter.key, -counter.delta));
      expectAccepted(await transfer({ contract_address: contract, token_id: 1 }));
    });

    it("refuses an address that is not a token contract", async () => {
      const answer = await transfer({ contract_address: randomAddress(), token_id: 1 });
      expectRefusal(answer, 422, "contract_not_supported", { contract_address: "contract_not_supported" });
    });

    it("answers 503 with Retry-After and stores nothing when the chain is unavailable", async () => {
      api.foreign.down = true;
      const contract = randomAddress();
      const answer = await transfer({ contract_address: contract, token_id: 1 });
      api.foreign.down = false;
      expectRefusal(answer, 503, "unavailable");
      expect(answer.headers.get("retry-after")).to.equal("5");
    });

    it("does not affect transfers of the service's own tokens", async () => {
      await addMint(api, { contract: erc721, to: wallet, tokenId: 30 });
      api.foreign.down = true;
      const answer = await transfer({ contract_address: erc721, token_id: 30 });
      api.foreign.down = false;
      expectAccepted(answer);
    });
  });
});
