import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";

describe("accounts", () => {
  const api = useApi({ per: "block" });

  describe("POST /v1/accounts", () => {
    it("creates a new wallet at each call without a user, also when user_identifier is null", async () => {
      const first = await api.post("/v1/accounts", {});
      const second = await api.post("/v1/accounts", { user_identifier: null });
      expect([first.body.user_identifier, second.body.user_identifier]).to.deep.equal([null, null]);
      expect(first.body.address).to.not.equal(second.body.address);
    });

    it("refuses a second wallet for the same user, but not in another app", async () => {
      const first = await api.post("/v1/accounts", { user_identifier: "bob" });
      const again = await api.post("/v1/accounts", { user_identifier: "bob" });
      expectRefusal(again, 422, "user_identifier_taken", { user_identifier: "user_identifier_taken" });
      const elsewhere = await api.post("/v1/accounts", { user_identifier: "bob" }, { token: api.other.token });
      expect(elsewhere.status).to.equal(200);
      expect(elsewhere.body.address).to.not.equal(first.body.address);
    });

    it("limits the identifier in characters, not in bytes", async () => {
      const longest = "😀".repeat(256);
      expect((await api.post("/v1/accounts", { user_identifier: longest })).status).to.equal(200);
      expectInvalid(await api.post("/v1/accounts", { user_identifier: `${longest}x` }), {
        user_identifier: "too_long",
      });
    });

    it("refuses an invalid identifier", async () => {
      for (const [value, code] of [
        ["a\u001b[2Jb", "invalid_format"],
        ["a\tb", "invalid_format"],
        ["a\nb", "invalid_format"],
        ["a\u0085b", "invalid_format"],
        ["a\0b", "invalid_format"],
        [".", "invalid_format"],
        ["..", "invalid_format"],
        ["\ud800", "invalid_format"],
        [7, "wrong_type"],
        [{}, "wrong_type"],
      ] as const) {
        expectInvalid(await api.post("/v1/accounts", { user_identifier: value }), { user_identifier: code });
      }
    });

    it("knows users of earlier versions by their names with control characters", async () => {
      const user = "old\u001bname";
      const made = await api.post("/v1/accounts", { user_identifier: "old" });
      await api.database.write((trx) =>
        trx.updateTable("wallets").set({ user_identifier: user }).where("user_identifier", "=", "old").execute(),
      );
      const found = await api.get(`/v1/accounts/user/${encodeURIComponent(user)}`);
      expect(found.body).to.deep.equal({ address: made.body.address, user_identifier: user, watch_only: false });
      const again = await api.post("/v1/accounts", { user_identifier: user });
      expectRefusal(again, 422, "user_identifier_taken", { user_identifier: "user_identifier_taken" });
    });
  });

  describe("GET /v1/accounts/user/:user_identifier", () => {
    for (const user of [
      "plain",
      "a/b c?d#e%f",
      "Ünïcødé 🦊",
      "history",
      "0x0000000000000000000000000000000000000001",
    ]) {
      it(`finds the wallet of ${JSON.stringify(user)}`, async () => {
        const made = await api.post("/v1/accounts", { user_identifier: user });
        const answer = await api.get(`/v1/accounts/user/${encodeURIComponent(user)}`);
        expect(answer.body).to.deep.equal(made.body);
      });
    }
  });

  describe("GET /v1/accounts?addresses", () => {
    it("shows the app's wallets among the addresses, in any case, each once", async () => {
      const first = (await api.post("/v1/accounts", { user_identifier: "look-up" })).body.address ?? "";
      const [second, foreign] = [await addWallet(api), await addWallet(api, api.other.token)];
      const wanted = [second, first.toLowerCase(), foreign, randomAddress(), first];
      const { body } = await api.get(`/v1/accounts?addresses=${wanted.join(",")}`);
      expect(body.wallets?.map(({ address }) => address)).to.deep.equal([second, first]);
      expect(body.wallets?.[1]).to.include({ user_identifier: "look-up" });
      expect(body).to.include({ total: 2, limit: 30, offset: 0, next: null });
    });

    it("refuses more than a page, what is no address, and the fields of pages", async () => {
      const many = Array.from({ length: 31 }, randomAddress);
      expectInvalid(await api.get(`/v1/accounts?addresses=${many.join(",")}`), { addresses: "too_long" });
      expectInvalid(await api.get("/v1/accounts?addresses="), { "addresses.0": "invalid_format" });
      const [one = ""] = many;
      expectInvalid(await api.get(`/v1/accounts?addresses=${one},x`), { "addresses.1": "invalid_format" });
      expectInvalid(await api.get(`/v1/accounts?addresses=${one}&limit=3&offset=2`), {
        limit: "conflict",
        offset: "conflict",
      });
    });
  });

  describe("GET /v1/accounts?search", () => {
    const found = async (search: string, more = "") => {
      const { body } = await api.get(`/v1/accounts?search=${encodeURIComponent(search)}${more}`);
      return body.wallets!.map(({ user_identifier: user }) => user);
    };

    it("finds users by how they begin, in their order, whatever the case of A to Z is", async () => {
      const users = ["Searched-b", "searched-A", "SEARCHED-c", "search", "a searched", "searched-Ä\u{1F600}"];
      for (const user_identifier of users) await api.post("/v1/accounts", { user_identifier });
      await api.post("/v1/accounts", { user_identifier: "searched-d" }, { token: api.other.token });
      expect(await found("SEARCHED")).to.deep.equal(["searched-A", "Searched-b", "SEARCHED-c", "searched-Ä\u{1F600}"]);
      expect(await found("searched", "&limit=2")).to.deep.equal(["searched-A", "Searched-b"]);
      expect(await found("searched-Ä")).to.deep.equal(["searched-Ä\u{1F600}"]);
      expect(await found("searched-ä")).to.deep.equal([]);
      expect(await found("search%")).to.deep.equal([]);
      expect(await found("searched_")).to.deep.equal([]);
    });

    it("counts only what is on its page", async () => {
      const { body } = await api.get("/v1/accounts?search=searched&limit=2");
      expect(body).to.include({ total: 2, limit: 2, offset: 0, next: null });
    });

    it("compares the first characters of long identifiers", async () => {
      const long = "\u{1F98A}".repeat(64);
      await api.post("/v1/accounts", { user_identifier: `${long}1` });
      await api.post("/v1/accounts", { user_identifier: `${long}2` });
      expect(await found(long)).to.deep.equal([`${long}1`, `${long}2`]);
      expectInvalid(await api.get(`/v1/accounts?search=${encodeURIComponent(`${long}1`)}`), { search: "too_long" });
    });

    it("refuses an empty search, and one with a place or addresses", async () => {
      expectInvalid(await api.get("/v1/accounts?search="), { search: "too_short" });
      expectInvalid(await api.get("/v1/accounts?search=%00"), { search: "invalid_format" });
      expectInvalid(await api.get("/v1/accounts?search=a&offset=1"), { offset: "conflict" });
      expectInvalid(await api.get(`/v1/accounts?search=a&addresses=${randomAddress()}`), { search: "conflict" });
    });
  });

  describe("addresses in paths", () => {
    it("are accepted in any case, and refused with a wrong checksum", async () => {
      const address = await addWallet(api);
      const hex = address.slice(2);
      for (const spelling of [address, `0x${hex.toLowerCase()}`, `0x${hex.toUpperCase()}`]) {
        expect((await api.get(`/v1/accounts/${spelling}`)).status).to.equal(200);
      }
      // An address of EIP-55 with one letter in the wrong case.
      const wrong = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
      expectInvalid(await api.get(`/v1/accounts/${wrong}`), { address: "bad_checksum" });
      expectInvalid(await api.get("/v1/accounts/alice"), { address: "invalid_format" });
      expectRefusal(await api.get(`/v1/accounts/${randomAddress()}`), 404, "not_found");
    });
  });
});
