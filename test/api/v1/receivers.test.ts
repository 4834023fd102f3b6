import { once } from "node:events";

import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, RELAY } from "../support/api.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { follow } from "../support/follow.ts";
import { randomAddress } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

type Checked = Shape<"CheckedReceiver">;

describe("POST /v1/receivers/check", () => {
  const api = useApi();
  let contract: string;
  beforeEach(async () => {
    contract = await addCollection(api);
  });

  const check = (fields: object, token = api.app.token) =>
    api.post("/v1/receivers/check", { contract_address: contract, ...fields }, { token });
  const receiversOf = (answer: Answer) => {
    expect(answer.status, answer.text).to.equal(200);
    return (answer.body as unknown as Shape<"CheckedReceivers">).receivers;
  };
  const NOTHING = { address: null, user_identifier: null, delegate: null, message: null };

  describe("given addresses", () => {
    it("tells the app's wallets, accounts and contracts apart, in the order sent", async () => {
      const wallet = (await api.post("/v1/accounts", { user_identifier: "ana" })).body.address ?? "";
      const [account, refusing, delegated, delegate] = Array.from({ length: 4 }, randomAddress);
      const reason = "There is no `onERC721Received`: the code answers nothing.";
      api.receivers.found.set(refusing!, { is: "contract", delegate: null, accepts: false, reason });
      api.receivers.found.set(delegated!, { is: "delegated_account", delegate: delegate!, accepts: false, reason });
      const found = receiversOf(
        await check({ addresses: [delegated, wallet.toLowerCase(), account, refusing, account] }),
      );
      const expected: Checked[] = [
        {
          ...NOTHING,
          kind: "delegated_account",
          address: delegated!,
          delegate: delegate!,
          accepts: false,
          message: `The account runs the code of its delegate ${delegate!} (EIP-7702), which does not accept ERC721 tokens. ${reason}`,
        },
        { ...NOTHING, kind: "wallet", address: wallet, user_identifier: "ana", accepts: true },
        { ...NOTHING, kind: "account", address: account!, accepts: true },
        {
          ...NOTHING,
          kind: "contract",
          address: refusing!,
          accepts: false,
          message: `The contract does not accept ERC721 tokens. ${reason}`,
        },
        { ...NOTHING, kind: "account", address: account!, accepts: true },
      ];
      expect(found).to.deep.equal(expected);
    });

    it("asks the node once for all of them, and not for the app's wallets", async () => {
      await addMint(api, { contract, to: randomAddress(), tokenId: 1 });
      const others = Array.from({ length: 99 }, randomAddress);
      receiversOf(await check({ addresses: [await addWallet(api), ...others] }));
      expect(api.receivers.asked).to.deep.equal([
        { token: { contract, type: "ERC721", tokenId: 2n }, addresses: others },
      ]);
    });

    it("treats a wallet of another app like any account: it is asked for, and shown, in the same way", async () => {
      const theirs = (await api.post("/v1/accounts", { user_identifier: "bob" }, { token: api.other.token })).body;
      const nobodys = randomAddress();
      const [first, second] = receiversOf(await check({ addresses: [theirs.address, nobodys] }));
      expect(first).to.deep.equal({ ...second, address: theirs.address });
      expect(api.receivers.asked[0]?.addresses).to.deep.equal([theirs.address, nobodys]);
    });

    it("reports what the service refuses in its place, without an error of the call", async () => {
      const zero = `0x${"0".repeat(40)}`;
      const account = randomAddress();
      const found = receiversOf(await check({ addresses: [RELAY, zero, "0x12", account] }));
      expect(found.map(({ kind, accepts }) => [kind, accepts])).to.deep.equal([
        ["refused", false],
        ["refused", false],
        ["refused", false],
        ["account", true],
      ]);
      expect(found.map(({ message }) => message)).to.deep.equal([
        "Must not be the service's relay contract. Use the address of a person, a wallet or another contract.",
        "Must not be the zero address.",
        "Must be an address: 0x and 40 hex digits.",
        null,
      ]);
      expect(api.receivers.asked[0]?.addresses).to.deep.equal([account]);
    });

    it("does not say that a receiver accepts when the node could not tell", async () => {
      const [silent, unread] = [randomAddress(), randomAddress()];
      const nothing = { delegate: null, accepts: null, reason: null };
      api.receivers.found.set(silent, { is: "unknown", ...nothing });
      api.receivers.found.set(unread, { is: "contract", ...nothing });
      const found = receiversOf(await check({ addresses: [silent, unread] }));
      expect(found.map(({ kind, accepts }) => [kind, accepts])).to.deep.equal([
        ["unknown", null],
        ["contract", null],
      ]);
      for (const { message } of found) expect(message).to.match(/^The service's node could not tell/);
    });
  });

  describe("given users", () => {
    it("tells users with a wallet, new ones, and names that `to_user` refuses, and creates nothing", async () => {
      const wallet = (await api.post("/v1/accounts", { user_identifier: "ana" })).body.address ?? "";
      const named = randomAddress();
      await api.post("/v1/accounts", { user_identifier: named });
      const users = ["ben", "ana", "alice.eth", randomAddress(), named, "a\nb", "..", "x".repeat(10_000)];
      const found = receiversOf(await check({ users }));
      expect(found.map(({ kind, accepts }) => [kind, accepts])).to.deep.equal([
        ["new_user", true],
        ["wallet", true],
        ["refused", false],
        ["refused", false],
        ["wallet", true],
        ["refused", false],
        ["refused", false],
        ["refused", false],
      ]);
      expect(found[0]).to.deep.equal({ ...NOTHING, kind: "new_user", user_identifier: "ben", accepts: true });
      expect(found[1]?.address).to.equal(wallet);
      for (const [index, user] of users.entries()) {
        if (found[index]?.kind !== "refused") continue;
        const { errors } = (await api.post("/v1/nfts", { collection_address: contract, to_user: user })).body as {
          errors?: { message: string }[];
        };
        expect(found[index].message, user.slice(0, 50)).to.equal(errors?.[0]?.message);
      }
      expect((await api.get("/v1/accounts")).body.total).to.equal(2);
      expect(api.receivers.asked).to.deep.equal([]);
    });
  });

  describe("given a contract", () => {
    it("takes a contract of others that the app follows, and says not_found for all others", async () => {
      const followed = await follow(api.database, { app: api.app.id, type: "ERC1155" });
      const account = randomAddress();
      const fields = { addresses: [account] };
      receiversOf(await check({ ...fields, contract_address: followed }));
      expect(api.receivers.asked.at(-1)?.token).to.deep.equal({ contract: followed, type: "ERC1155", tokenId: 1n });
      for (const [address, token] of [
        [followed, api.other.token],
        [contract, api.other.token],
        [randomAddress(), api.app.token],
      ] as const) {
        const answer = await check({ ...fields, contract_address: address }, token);
        expectRefusal(answer, 404, "not_found", { contract_address: "not_found" });
      }
      expect(api.receivers.asked).to.have.length(1);
    });
  });

  it("takes exactly one list, of 1 to 100 entries", async () => {
    const addresses = [randomAddress()];
    expectInvalid(await check({}), { addresses: "required", users: "required" });
    expectInvalid(await check({ addresses, users: ["ana"] }), { addresses: "conflict", users: "conflict" });
    expectInvalid(await check({ addresses: [] }), { addresses: "too_short" });
    expectInvalid(await check({ users: Array.from({ length: 101 }, () => "ana") }), { users: "too_long" });
    expectInvalid(await check({ users: [1] }), { "users.0": "wrong_type" });
  });
});

describe("POST /v1/receivers/check without end", () => {
  const api = useApi({ limits: { batchItemsPerMinute: 150, simulationSeconds: 0.01 } });

  it("counts each entry as an item of a batch", async () => {
    const contract = await addCollection(api);
    const check = (count: number) =>
      api.post("/v1/receivers/check", {
        contract_address: contract,
        addresses: Array.from({ length: count }, randomAddress),
      });
    const first = await check(100);
    expect(first.status).to.equal(200);
    expect(first.headers.get("ratelimit")).to.match(/"items";r=50;/);
    expectRefusal(await check(51), 429, "rate_limited");
    expect((await check(50)).status).to.equal(200);
    expect(api.receivers.asked).to.have.length(2);
  });

  it("lets the node run one check of an app at a time, while other apps have theirs", async () => {
    const [mine, theirs] = [await addCollection(api), await addCollection(api, { app: api.other.id })];
    const { promise, resolve } = Promise.withResolvers<null>();
    api.receivers.until = promise;
    const check = (contract: string, token: string) =>
      api.post("/v1/receivers/check", { contract_address: contract, addresses: [randomAddress()] }, { token });
    const ofApp = [check(mine, api.app.token), check(mine, api.app.token)];
    const ofOther = check(theirs, api.other.token);
    const running = () => api.receivers.asked.map(({ token }) => token.contract).sort();
    await eventually(() => Promise.resolve(running().length === 2 ? true : undefined));
    // A call that needs no place was answered after them, so the third would run by now.
    await api.get("/v1/summary");
    expect(running()).to.deep.equal([mine, theirs].sort());
    resolve(null);
    for (const answer of await Promise.all([...ofApp, ofOther])) expect(answer.status).to.equal(200);
    expect(running()).to.deep.equal([mine, mine, theirs].sort());
  });

  it("ends the node's work after SIMULATION_SECONDS", async () => {
    const { promise, resolve } = Promise.withResolvers<null>();
    api.receivers.until = promise;
    const contract = await addCollection(api);
    const answer = api.post("/v1/receivers/check", { contract_address: contract, addresses: [randomAddress()] });
    const abort = await eventually(() => Promise.resolve(api.receivers.aborts[0]));
    if (!abort.aborted) await once(abort, "abort");
    resolve(null);
    expect((await answer).status).to.equal(200);
  });
});
