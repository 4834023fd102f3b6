import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect } from "chai";
import { Wallet, ZeroAddress } from "ethers";

import { addToCounter, counterKeys } from "../../../api/store/db/counters.ts";
import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

interface Adopted {
  app_id: string;
  added: number;
  already_there: number;
  refused: { line: number; user_identifier: string; address: string; code: string; message: string }[];
}

type Refused = Record<"error_code" | "message", string> & { errors: Shape<"FieldErrors"> };

const NOTHING_REFUSED: Adopted["refused"] = [];
const TAKEN = "The address has a wallet at this service already, or belongs to the service.";

describe("command line: wallet adopt", () => {
  const moneta = useService();
  const place = useFolder();
  const foreign = new Foreign(moneta);
  const { api } = moneta;
  let collection: string;
  let count = 0;

  before(async () => {
    collection = await api.collection({ type: "ERC721" });
  });

  const words = (file: string, app = moneta.app.appId) => ["wallets", "adopt", file, "--app", app];
  async function tableOf(...lines: string[]): Promise<string> {
    const file = join(place.path, "users.csv");
    await writeFile(file, lines.join("\n"));
    return file;
  }
  const adopt = async (lines: string[], app?: string) =>
    jsonOfCli<Adopted>(moneta.env, ...words(await tableOf(...lines), app));
  /** A user with a key of its own, who is adopted. */
  async function watched(): Promise<{ user: string; address: string; signer: Wallet }> {
    const user = `watched-${(++count).toString()}`;
    const { privateKey, address } = Wallet.createRandom();
    expect(await adopt([`${user},${address}`])).to.include({ added: 1 });
    return { user, address, signer: new Wallet(privateKey, moneta.provider) };
  }
  const walletOf = (user: string) => api.ok<Shape<"Wallet">>("GET", `/v1/accounts/user/${user}`);
  const contentsOf = async (address: string) =>
    (await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${address}`)).nfts;

  describe("given a table", () => {
    it("adds the good rows, lists each other one with its line and the reason, and adds nothing twice", async () => {
      const [ann, bob, cleo] = [Wallet.createRandom(), Wallet.createRandom(), Wallet.createRandom()];
      const wrong = `0x${"aB".repeat(20)}`;
      const lines = [
        "User Identifier;Address;note",
        `ann;${ann.address};first`,
        `bob;${bob.address.toLowerCase()};`,
        `cleo;${wrong};`,
        `dora;${ZeroAddress};`,
        "emil;alice.eth;",
        `;${cleo.address};`,
        `"a\u0007b";${cleo.address};`,
        `..;${cleo.address};`,
        `${"x".repeat(257)};${cleo.address};`,
        `fay;${cleo.address}`,
        `ann;${cleo.address};`,
        `gus;${ann.address};`,
        `ann;${ann.address};`,
      ];
      const first = await adopt(lines);
      expect(first).to.include({ app_id: moneta.app.appId, added: 2, already_there: 1 });
      expect(first.refused.map(({ line, code }) => `${line.toString()} ${code}`)).to.deep.equal([
        ...[4, 5, 6, 7, 8, 9, 10, 11].map((line) => `${line.toString()} invalid_row`),
        ...["12 user_identifier_taken", "13 address_taken"],
      ]);
      const [address, user] = ["address: Must be 0x and 40 hex digits", "user_identifier: Must"];
      for (const [index, start] of [address, address, address, user, user, user, user, "The row has 2 cells"].entries())
        expect(first.refused[index]?.message.slice(0, start.length)).to.equal(start);
      expect(await walletOf("bob")).to.deep.equal({
        ...{ address: bob.address, user_identifier: "bob", watch_only: true },
      });
      expect((await api.send("GET", `/v1/accounts/${cleo.address}`)).status).to.equal(404);

      expect(await adopt(lines)).to.deep.equal({ ...first, added: 0, already_there: 3 });
      const { output, failed } = await runCli(moneta.env, ...words(await tableOf(...lines)));
      expect(failed).to.equal(true);
      expect(output).to.contain("line 4: address: Must be 0x and 40 hex digits, with the right checksum");
      expect(output).to.match(/^0 watch-only wallets added to .+, 3 there already, 10 rows refused\.$/m);
    });

    it("needs no line with names, and reads standard input", async () => {
      const { address } = Wallet.createRandom();
      const main = ["api/cli/main.ts", "wallet", "adopt", "--app", moneta.app.appId, "--json"];
      const running = promisify(execFile)(process.execPath, main, { env: { ...process.env, ...moneta.env } });
      running.child.stdin?.end(`"piped, user",${address}`);
      expect(JSON.parse((await running).stdout)).to.deep.include({ added: 1, refused: NOTHING_REFUSED });
      expect(await walletOf("piped,%20user")).to.include({ address, watch_only: true });
    });

    it("refuses what is not a table, and what cannot be read", async () => {
      const refusal = async (file: string) => (await rejectionOf(runCli(moneta.env, ...words(file)))).message;
      expect(await refusal(await tableOf('ann,"0x'))).to.match(/^Line 1: A quote is not closed/);
      expect(await refusal(join(place.path, "nothing.csv"))).to.contain("cannot be read");
    });

    it("stores more rows than one commit takes", async () => {
      const users = Array.from({ length: 1_201 }, (_, index) => {
        const digits = (index + 1).toString(16).padStart(8, "0");
        return `many-${index.toString()},0x${"5".repeat(32)}${digits}`;
      });
      const started = performance.now();
      expect(await adopt(users)).to.deep.include({ added: 1_201, already_there: 0, refused: NOTHING_REFUSED });
      expect(await adopt(users)).to.deep.include({ added: 0, already_there: 1_201 });
      expect(performance.now() - started).to.be.below(60_000);
    });

    it("stores as many as the quota of wallets allows", async () => {
      const name = `small-${moneta.app.appId.slice(0, 8)}`;
      await runCli(moneta.env, "app", "create", name);
      await runCli(moneta.env, "app", "quota", name, "--wallets", "2");
      const users = ["a", "b", "c"].map((user) => `${user},${Wallet.createRandom().address}`);
      const { added, refused } = await adopt(users, name);
      expect(added).to.equal(2);
      expect(refused.map(({ line, code }) => [line, code])).to.deep.equal([[3, "quota_exceeded"]]);
    });
  });

  describe("given an address that is not free", () => {
    it("refuses wallets of any app, and the service's own addresses, all with the same answer", async () => {
      const other = await moneta.createApp("other");
      const { address: watchedHere } = await watched();
      const { contracts, database } = moneta.service;
      const [lane] = await database.read.selectFrom("lanes").select("address").execute();
      const taken = [
        ...[await api.wallet("full"), await other.wallet(), watchedHere, collection, lane?.address ?? ""],
        ...[contracts.relay, contracts.delegate, contracts.factories[0].address],
      ];
      const { added, refused } = await adopt(taken.map((address, index) => `taken-${index.toString()},${address}`));
      expect(added).to.equal(0);
      expect(refused.map(({ address, code, message }) => [address, code, message])).to.deep.equal(
        taken.map((address) => [address, "address_taken", TAKEN]),
      );
      // Not even the user who has it.
      const full = (await walletOf("full")).address;
      expect((await adopt([`full,${full}`])).refused.map(({ message }) => message)).to.deep.equal([TAKEN]);
    });

    it("gives a user another address when an app has named the derived one before", async () => {
      const derived = await api.wallet("derived");
      await moneta.service.database.write(async (trx) => {
        await trx.deleteFrom("wallets").where("address", "=", derived).execute();
        // Other files use the same service, and compare its totals.
        await addToCounter(trx, counterKeys.wallets(moneta.app.appId), -1);
      });
      const name = `naming-${moneta.app.appId.slice(0, 8)}`;
      await runCli(moneta.env, "app", "create", name);
      expect(await adopt([`eve,${derived}`], name)).to.include({ added: 1 });
      const next = await api.wallet("derived");
      expect(next).to.not.equal(derived);
      expect(await walletOf("derived")).to.include({ address: next, watch_only: false });
      await api.mint(collection, next);
    });
  });

  describe("given an address with tokens", () => {
    it("lists them at once, and never their unlockable content", async () => {
      const { address } = Wallet.createRandom();
      const secret = { name: "Secret", unlockable_content: "behind the door" };
      const { nft_token_id: id } = await api.mint(collection, address, secret);
      expect(await adopt([`collector,${address}`])).to.include({ added: 1 });
      const held = await contentsOf(address);
      expect(held.map((nft) => [nft.token_id, nft.unlockable_content])).to.deep.equal([[id, null]]);
      for (const path of [collection, `${collection}/${id ?? ""}`]) {
        const page = await api.send("GET", `/v1/accounts/${address}/${path}`);
        expect(page.status).to.equal(200);
        expect(JSON.stringify(page.body)).to.contain("Secret").and.not.contain("door");
      }
      const own = await api.wallet();
      await api.mint(collection, own, secret);
      expect((await contentsOf(own)).map((nft) => nft.unlockable_content)).to.deep.equal(["behind the door"]);
    });

    it("lists those of a contract that the app has adopted, and goes on with it", async () => {
      const owner = await moneta.provider.getSigner(3);
      const contract = await new WizardERC721__factory(owner).deploy(owner.address, 3);
      const [at, { address }] = [await contract.getAddress(), Wallet.createRandom()];
      await (await contract.transferFrom(owner.address, address, 1)).wait();
      await runCli(moneta.env, "collection", "adopt", at, "--app", moneta.app.appId, "--allow");
      await moneta.caughtUp();
      expect(await adopt([`holder,${address}`])).to.include({ added: 1 });
      expect((await contentsOf(address)).map((nft) => nft.token_id)).to.deep.equal([1]);
      await (await contract.transferFrom(owner.address, address, 2)).wait();
      await eventually(async () => ((await contentsOf(address)).length === 2 ? true : undefined));
      const { history } = await api.ok<Shape<"HistoryPage">>("GET", `/v1/accounts/${address}/history`);
      expect(history.map((entry) => entry.token_id)).to.deep.equal([2]);
    });
  });

  describe("given a watch-only wallet", () => {
    it("gets tokens by the name of its user, with history, names and events", async () => {
      const { user, address, signer } = await watched();
      const { nft_token_id: id } = await api.completed("/v1/nfts", { collection_address: collection, to_user: user });
      expect((await contentsOf(address)).map((nft) => nft.token_id)).to.deep.equal([id]);
      const to = await api.wallet();
      await moneta.fund(address, 10n ** 18n);
      await (await ERC721Collection__factory.connect(collection, signer).transferFrom(address, to, id ?? 0)).wait();
      await moneta.caughtUp();
      const { history } = await api.ok<Shape<"HistoryPage">>("GET", `/v1/accounts/${address}/history`);
      expect(history.map(({ type, request_id: request }) => [type, request === null])).to.deep.equal([
        ["transfer", true],
        ["mint", false],
      ]);
      const events = await eventually(async () => {
        const types = "token.minted,token.received,token.sent,token.transferred";
        const { events: all } = await api.ok<{ events: Shape<"TokenEvent">[] }>("GET", `/v1/events?types=${types}`);
        const found = all.filter((event) => event.contract_address === collection && event.token_id === id);
        return found.length === 2 ? found : undefined;
      });
      expect(events.map(({ type, from_user: from, to_user: at }) => [type, from, at])).to.deep.equal([
        ["token.minted", null, user],
        ["token.sent", user, null],
      ]);
    });

    it("cannot transfer, burn or withdraw, and the call says why", async () => {
      const { user, address } = await watched();
      const { nft_token_id: id } = await api.mint(collection, address);
      const token = { contract_address: collection, token_id: Number(id) };
      const to = { to_address: await api.wallet() };
      const { address: followed } = await foreign.plain(address, 1);
      for (const [path, body, field] of [
        ["/v1/transfers", { ...token, ...to, from_address: address }, "from_address"],
        ["/v1/transfers", { ...token, ...to, from_user: user }, "from_user"],
        ["/v1/transfers", { ...to, from_user: user, contract_address: followed, token_id: 1 }, "from_user"],
        ["/v1/burns", { ...token, from_address: address }, "from_address"],
      ] as const) {
        const { status, body: answer } = await api.send<Refused>("POST", path, body);
        expect([status, answer.error_code]).to.deep.equal([422, "wallet_watch_only"]);
        expect(answer.errors).to.deep.equal([{ field, code: "wallet_watch_only", message: answer.message }]);
      }
      const items = [{ ...token, ...to, from_address: address }];
      const { results } = await api.ok<Shape<"BatchResults">>("POST", "/v1/transfers/batch", { items });
      expect(results[0]).to.include({ error_code: "wallet_watch_only" });
      const { requests } = await api.ok<Shape<"RequestsPage">>("GET", `/v1/requests?wallet=${address}`);
      expect(requests.map(({ type }) => type)).to.deep.equal(["mint"]);
      await moneta.fund(address, 10n ** 18n);
      const withdraw = ["wallet", "withdraw", address, "--to", to.to_address, "--yes"];
      expect((await rejectionOf(runCli(moneta.env, ...withdraw))).message).to.contain("watch-only");
    });

    it("belongs to one app: others find nothing", async () => {
      const { address } = await watched();
      const other = await moneta.createApp("stranger");
      const body = { from_address: address, to_address: address, contract_address: collection, token_id: 1 };
      expect(await other.refusal("GET", `/v1/accounts/${address}`)).to.equal("404 not_found");
      expect(await other.refusal("PATCH", `/v1/accounts/${address}`, { user_identifier: "mine" })).to.match(/^40[34] /);
      expect(await other.refusal("POST", "/v1/transfers", body)).to.equal("422 wallet_not_found");
    });

    it("is exported with its mark, and keeps its user's name for itself", async () => {
      const { user, address } = await watched();
      const answer = await fetch(`${moneta.baseUrl}/v1/exports/wallets`, {
        headers: { authorization: `Bearer ${moneta.app.token}` },
      });
      const rows = (await answer.text()).trim().split("\n");
      const row = rows
        .map((line) => JSON.parse(line) as Shape<"ExportedWallet">)
        .find((one) => one.address === address);
      expect(row).to.include({ user_identifier: user, watch_only: true });
      const taken = await api.send<Refused>("POST", "/v1/accounts", { user_identifier: user });
      expect(taken.body.error_code).to.equal("user_identifier_taken");
    });

    it("is not asked of the seed by the doctor", async () => {
      await watched();
      const { output } = await runCli(moneta.env, "doctor", "--all");
      expect(output).to.contain("its seed makes the wallets of this database");
    });

    it("is asked of the chain, because it may be a contract that refuses tokens", async () => {
      const contract = await foreign.rejecting();
      expect(await adopt([`vault,${contract}`])).to.include({ added: 1 });
      for (const named of [{ users: ["vault"] }, { addresses: [contract] }]) {
        const body = { contract_address: collection, ...named };
        const { receivers } = await api.ok<Shape<"CheckedReceivers">>("POST", "/v1/receivers/check", body);
        expect(receivers).to.have.length(1);
        expect(receivers[0]).to.include({ kind: "contract", accepts: false, user_identifier: "vault" });
      }
      const { error_code: code } = await api.done("/v1/nfts", { collection_address: collection, to_user: "vault" });
      expect(code).to.equal("receiver_rejected");
    });
  });
});
