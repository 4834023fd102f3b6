import { expect } from "chai";
import { Wallet } from "ethers";

import { renameWallet } from "../../../api/commands/rename-wallet.ts";
import type { Swept, TokenGroup } from "../../../api/commands/sweep-wallets.ts";
import type { Shape } from "../../../client/client.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { importKeys, runProgram } from "./support/import-keys.ts";
import { runCli } from "./support/run.ts";

interface Sweep extends Record<"before" | "moved" | "left", number> {
  plan: TokenGroup[];
  wallets: Swept[];
  reasons: TokenGroup[];
}

describe("command line: wallet sweep", () => {
  const moneta = useService();
  const foreign = new Foreign(moneta);
  const { api } = moneta;
  let count = 0;

  const words = (...more: string[]) => ["wallets", "sweep", "--app", moneta.app.appId, ...more];
  /** In a process of its own, as an operator runs it. */
  async function sweep(...more: string[]): Promise<Sweep> {
    const { output, errors } = await runProgram(moneta.env, "", ...words(...more), "--json");
    if (output === "") throw new Error(errors);
    return JSON.parse(output) as Sweep;
  }
  /** Users whose keys came from elsewhere. */
  async function imported(users: number, app = moneta.app.appId): Promise<{ user: string; address: string }[]> {
    const rows = Array.from({ length: users }, () => ({
      ...{ user: `holder-${(++count).toString()}`, key: Wallet.createRandom() },
    }));
    const table = rows.map(({ user, key }) => `${user},${key.privateKey}`);
    expect(await importKeys(moneta.env, app, table)).to.include({ added: users });
    return rows.map(({ user, key }) => ({ user, address: key.address }));
  }
  const walletOf = (user: string) => api.ok<Shape<"Wallet">>("GET", `/v1/accounts/user/${user}`);
  const held = async (wallet: string, as = api) =>
    (await as.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}`)).nfts
      .map(({ contract_address: contract, token_id: id, quantity }) => `${contract} ${String(id)} ${String(quantity)}`)
      .sort();
  /** How many transfers were asked for. */
  const requestsOf = async (...wallets: string[]) =>
    moneta.service.database.read
      .selectFrom("requests")
      .select(["id", "status"])
      .where("from_address", "in", wallets)
      .execute();
  async function adopted(owner: string) {
    const signer = await foreign.signer();
    const contract = await new WizardERC1155__factory(signer).deploy(signer.address);
    const address = await contract.getAddress();
    await (await contract.mintBatch(owner, [1, 2], [10, 20])).wait();
    await runCli(moneta.env, "collection", "adopt", address, "--app", moneta.app.appId, "--allow");
    return { contract, address };
  }

  it("moves everything that the listings show, then the user, and is quiet afterwards", async () => {
    const [ann, bob, cleo] = await imported(3);
    if (!ann || !bob || !cleo) throw new Error("no wallets");
    const derived = await api.wallet("derived");
    // A user may have any name.
    const named = await api.wallet(ann.address);
    const collection = await api.collection({ type: "ERC721" });
    const editions = await api.collection({ type: "ERC1155" });
    for (const wallet of [ann.address, ann.address, bob.address, derived]) await api.mint(collection, wallet);
    await api.create(editions, bob.address, 5, 7);
    const { address: wizard } = await adopted(ann.address);
    const { address: plain } = await foreign.plain(bob.address, 3);
    await api.move(plain, 3, bob.address, bob.address);
    const before = { ann: await held(ann.address), bob: await held(bob.address), derived: await held(derived) };
    expect(before.ann).to.have.length(4).and.to.include(`${wizard} 2 20`);
    expect(before.bob).to.have.length(3);

    const planned = await sweep("--dry-run");
    expect(planned).to.deep.include({ before: 7, moved: 0, left: 7, wallets: [], reasons: [] });
    const ofContracts = planned.plan.map(({ contract_address, reason, tokens }) => [contract_address, reason, tokens]);
    expect(ofContracts).to.have.deep.members([
      ...[collection, editions, wizard, plain].map((contract, index) => [contract, null, [3, 1, 2, 1][index]]),
    ]);
    expect(await requestsOf(ann.address)).to.deep.equal([]);

    const one = await sweep("--user", ann.user);
    expect(one).to.include({ before: 4, moved: 4, left: 0 });
    expect(one.wallets[0]?.new_wallet).to.not.equal(named);
    expect((await walletOf(bob.user)).address).to.equal(bob.address);
    const rest = await sweep();
    expect(rest).to.include({ before: 3, moved: 3, left: 0 });
    expect(rest.wallets.map((wallet) => wallet.user_identifier)).to.have.members([bob.user, cleo.user]);
    for (const { user, address } of [ann, bob, cleo]) {
      const row = [...one.wallets, ...rest.wallets].find((wallet) => wallet.user_identifier === user);
      expect(row).to.deep.include({ old_wallet: address, left: 0, user_moved: true });
      const wallet = await walletOf(user);
      expect(wallet).to.deep.equal({ address: row?.new_wallet, user_identifier: user, watch_only: false });
      expect(await held(address)).to.deep.equal([]);
    }
    expect(await held((await walletOf(ann.user)).address)).to.deep.equal(before.ann);
    expect(await held((await walletOf(bob.user)).address)).to.deep.equal(before.bob);
    expect(await held(derived)).to.deep.equal(before.derived);
    expect((await walletOf("derived")).address).to.equal(derived);
    // The new wallet signs.
    await api.completed("/v1/transfers", {
      ...{ contract_address: wizard, token_id: 2, amount: 1, from_user: ann.user, to_user: bob.user },
    });

    const again = await runProgram(moneta.env, "", ...words());
    expect(again).to.deep.equal({ output: "Nothing is left to sweep.\n", errors: "", code: 0 });
    expect(await requestsOf(ann.address, bob.address)).to.have.length(8);
  });

  it("moves what arrives later, but nothing to another user", async () => {
    const [fay] = await imported(1);
    if (!fay) throw new Error("no wallet");
    const collection = await api.collection({ type: "ERC721" });
    expect(await sweep()).to.include({ before: 0, moved: 0, left: 0 });
    await api.mint(collection, fay.address);
    expect(await sweep()).to.include({ before: 1, moved: 1, left: 0 });
    expect(await held((await walletOf(fay.user)).address)).to.have.length(1);

    const rename = (user: string | null) => renameWallet(moneta.service, moneta.app.appId, fay.address, user);
    await rename("zoe");
    await api.mint(collection, fay.address);
    const refused = await sweep();
    expect(refused).to.include({ before: 1, moved: 0, left: 1 });
    for (const [group] of [refused.plan, refused.reasons])
      expect(group).to.include({ reason: "has_another_user", tokens: 1, old_wallet: fay.address });
    await rename(null);
    expect(await sweep()).to.include({ before: 1, moved: 1, left: 0 });
  });

  it("takes what arrives meanwhile, also further copies of a token that has moved", async () => {
    const [dan] = await imported(1);
    if (!dan) throw new Error("no wallet");
    const { contract, address } = await adopted(dan.address);
    let arrived = false;
    moneta.intercept = async ({ method }) => {
      if (method !== "eth_sendRawTransaction" || arrived) return undefined;
      arrived = true;
      await (await contract.mintBatch(dan.address, [2, 3], [1, 5])).wait();
      return undefined;
    };
    expect(await sweep()).to.include({ before: 2, moved: 3, left: 0 });
    expect(arrived).to.equal(true);
    expect(await held((await walletOf(dan.user)).address)).to.have.members([
      ...[`${address} 1 10`, `${address} 2 21`, `${address} 3 5`],
    ]);

    // A contract that always gives something back does not keep the command for ever.
    await (await contract.mintBatch(dan.address, [4], [1])).wait();
    await eventually(async () => ((await held(dan.address)).length === 1 ? true : undefined));
    moneta.intercept = async ({ method }) => {
      if (method === "eth_sendRawTransaction") await (await contract.mintBatch(dan.address, [4], [1])).wait();
      return undefined;
    };
    const { moved, left, reasons } = await sweep();
    moneta.intercept = null;
    expect([moved, left, reasons.map(({ reason }) => reason)]).to.deep.equal([0, 1, ["arrived"]]);
    expect(await sweep()).to.include({ before: 1, moved: 1, left: 0 });
  });

  it("leaves soulbound tokens and failed ones, with the reason, and the user where they are", async () => {
    const [eve] = await imported(1);
    if (!eve) throw new Error("no wallet");
    const bound = await api.collection({ type: "ERC721", soulbound: true });
    for (let token = 0; token < 2; token++) await api.mint(bound, eve.address);
    const { address: wizard } = await adopted(eve.address);
    const kept = await held(eve.address);
    expect(kept).to.have.length(4);
    // The old host overtakes: the service reads a nonce that is used by then.
    await moneta.provider.send("hardhat_setNonce", [eve.address, "0x2"]);
    moneta.intercept = ({ method, params }) =>
      method === "eth_getTransactionCount" && params[0] === eve.address ? { result: "0x0" } : undefined;
    const { output, errors, code } = await runProgram(moneta.env, "", ...words());
    moneta.intercept = null;
    expect(code).to.equal(1);
    expect(errors).to.match(/^1 wallet with 4 tokens:$/m);
    expect(errors).to.match(new RegExp(`^${bound} +2 +not_transferable: `, "m"));
    expect(errors).to.match(new RegExp(`^${wizard} +2 +will move$`, "m"));
    expect(output).to.match(new RegExp(`^${eve.user} +${eve.address} +0x\\w{40} +4 +0 +4 +old$`, "m"));
    expect(output).to.match(new RegExp(`^${bound} +2 +not_transferable: `, "m"));
    const first = `First: token \\d of ${eve.address} \\[request \\w+\\]`;
    expect(output).to.match(new RegExp(`^${wizard} +2 +execution_reverted: .+ ${first}$`, "m"));
    expect(await held(eve.address)).to.deep.equal(kept);

    const { wallets, reasons } = await sweep();
    expect(wallets).to.have.length(1);
    expect(wallets[0]).to.deep.include({ old_wallet: eve.address, moved: 2, left: 2, user_moved: false });
    expect(reasons.map(({ reason, tokens }) => [reason, tokens])).to.deep.equal([["not_transferable", 2]]);
    expect((await walletOf(eve.user)).address).to.equal(eve.address);
    expect((await requestsOf(eve.address)).map(({ status }) => status)).to.have.members([
      ...["failed", "failed", "completed", "completed"],
    ]);
  });

  it("says what would move of a wallet with more tokens than a page has", async () => {
    const [gil] = await imported(1);
    if (!gil) throw new Error("no wallet");
    const { contract, address } = await adopted(gil.address);
    const ids = Array.from({ length: 298 }, (_, index) => index + 3);
    const copies = ids.map(() => 1);
    await (await contract.mintBatch(gil.address, ids, copies)).wait();
    const totalOf = async () => (await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${gil.address}`)).total;
    await eventually(async () => ((await totalOf()) === 300 ? true : undefined));
    const { plan, ...figures } = await sweep("--dry-run", "--user", gil.user);
    expect(figures).to.include({ before: 300, moved: 0, left: 300 });
    expect(plan.map(({ contract_address, reason, tokens }) => [contract_address, reason, tokens])).to.deep.equal([
      [address, null, 300],
    ]);
  });

  it("asks for nothing twice when it is killed", async () => {
    await moneta.newApp();
    const holders = await imported(6);
    const collection = await api.collection({ type: "ERC721" });
    const places = holders.map(({ address }) => address);
    const mints = places.flatMap((to_address) =>
      Array.from({ length: 5 }, () => ({ collection_address: collection, to_address })),
    );
    for (const id of await api.acceptBatch("/v1/nfts/batch", mints)) await api.settled(id);
    const killed = new TestProcess(["api/cli/main.ts", ...words()], moneta.env);
    await eventually(async () => ((await requestsOf(...places)).length > 0 ? true : undefined));
    await killed.end("SIGKILL");
    const [first, second] = await Promise.all([sweep(), sweep()]);
    expect([first.left, second.left]).to.deep.equal([0, 0]);
    const requests = await requestsOf(...places);
    expect(requests.map(({ status }) => status)).to.deep.equal(Array.from({ length: 30 }, () => "completed"));
    for (const { user } of holders) expect(await held((await walletOf(user)).address)).to.have.length(5);
  });

  it("touches no wallet of another app", async () => {
    const other = await moneta.createApp("other");
    const collection = await api.collection({ type: "ERC721" });
    const name = await moneta.service.database.read
      .selectFrom("apps")
      .select("id")
      .where("name", "like", "other%")
      .orderBy("created_at", "desc")
      .executeTakeFirstOrThrow();
    const [theirs] = await imported(1, name.id);
    if (!theirs) throw new Error("no wallet");
    await api.mint(collection, theirs.address);
    expect((await sweep()).wallets).to.deep.equal([]);
    expect(await requestsOf(theirs.address)).to.deep.equal([]);
    expect((await other.ok<Shape<"Wallet">>("GET", `/v1/accounts/user/${theirs.user}`)).address).to.equal(
      theirs.address,
    );
  });
});
