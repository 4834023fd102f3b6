import { expect } from "chai";
import { Wallet } from "ethers";

import type { Examination } from "../../../api/checks/examine.ts";
import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { everythingStored } from "../../support/everything-stored.ts";
import { Foreign } from "../../support/foreign.ts";
import { logLines } from "../../support/log-lines.ts";
import { parkedIds } from "../../support/poison.ts";
import { useService } from "../../support/use-service.ts";
import { importKeys } from "../cli/support/import-keys.ts";
import { jsonOfCli, runCli } from "../cli/support/run.ts";

/** Where the old host sends its transactions. */
const LANDING = Wallet.createRandom().address;

describe("imported wallets on a real node", () => {
  const { logger, lines } = logLines("trace");
  // The tests search everything that the service has logged and stored, and change its rows.
  const moneta = useService({ logger, proxy: true });
  const foreign = new Foreign(moneta);
  const { api } = moneta;
  const keys: string[] = [];
  let collection: string;
  let count = 0;

  before(async () => {
    collection = await api.collection({ type: "ERC721" });
  });

  const imports = (rows: readonly string[], ...options: string[]) =>
    importKeys(moneta.env, moneta.app.appId, rows, ...options);
  /** A user whose key the old host has, too. */
  async function imported(): Promise<{ user: string; address: string; old: Wallet }> {
    const [user, { privateKey, address }] = [`imported-${(++count).toString()}`, Wallet.createRandom()];
    expect(await imports([`${user},${privateKey}`])).to.include({ added: 1 });
    keys.push(privateKey);
    await moneta.fund(address, 10n ** 18n);
    return { user, address, old: new Wallet(privateKey, moneta.provider) };
  }
  const secretsOf = async (address: string) => {
    const { nfts } = await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${address}`);
    return nfts.map((nft) => nft.unlockable_content);
  };
  /** The old host sends transactions of the wallet. */
  const useNonces = async (old: Wallet, times: number) => {
    for (let time = 0; time < times; time++) await (await old.sendTransaction({ to: LANDING })).wait();
  };
  const rows = () => moneta.service.database;

  it("get tokens by the name of the user, show unlockable content, transfer, burn and withdraw", async () => {
    const { user, address } = await imported();
    const [to, mint] = [await api.wallet(), { collection_address: collection, to_user: user }];
    const first = await api.completed("/v1/nfts", { ...mint, unlockable_content: "behind the door" });
    const second = await api.completed("/v1/nfts", mint);
    expect(await secretsOf(address)).to.have.members(["behind the door", null]);
    await api.move(collection, Number(first.nft_token_id), address, to);
    expect(await secretsOf(to)).to.deep.equal(["behind the door"]);
    const token = { contract_address: collection, token_id: Number(second.nft_token_id) };
    await api.completed("/v1/burns", { ...token, from_user: user });
    expect(await secretsOf(address)).to.deep.equal([]);
    const { history } = await api.ok<Shape<"HistoryPage">>("GET", `/v1/accounts/${address}/history`);
    expect(history.map(({ type }) => type)).to.deep.equal(["burn", "transfer", "mint", "mint"]);
    const receiver = Wallet.createRandom().address;
    const withdraw = ["wallet", "withdraw", address, "--to", receiver, "--yes"];
    expect(await jsonOfCli(moneta.env, ...withdraw)).to.include({ status: "sent", nonce: 0 });
  });

  it("that were watch-only have their tokens, and sign from then on", async () => {
    const { address, privateKey } = Wallet.createRandom();
    const id = (await api.mint(collection, address, { unlockable_content: "old secret" })).nft_token_id;
    expect(await imports([`later,${privateKey}`])).to.include({ added: 1 });
    expect(await secretsOf(address)).to.deep.equal(["old secret"]);
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    const to = await api.wallet();
    await api.move(collection, Number(id), address, to);
    expect(await contract.ownerOf(Number(id))).to.equal(to);
  });

  it("transfer foreign tokens, whatever nonces the old host has used before and in between", async () => {
    const { address, old } = await imported();
    const { address: contract } = await foreign.plain(address, 1, 2, 3);
    const to = await api.wallet();
    await useNonces(old, 3);
    await api.move(contract, 1, address, to);
    await useNonces(old, 2);
    await api.move(contract, 2, address, to);
    // The old host ends the delegation.
    const end = await old.authorize({ address: `0x${"0".repeat(40)}`, nonce: (await old.getNonce()) + 1 });
    await (await old.sendTransaction({ to: LANDING, authorizationList: [end] })).wait();
    expect(await moneta.provider.getCode(address)).to.equal("0x");
    await api.move(contract, 3, address, to);
    expect(await moneta.provider.getCode(address)).to.match(/^0xef0100/);
  });

  it("fail, and move nothing, when the old host overtakes; the same call again completes", async () => {
    const { address, old } = await imported();
    const { address: contract } = await foreign.plain(address, 1);
    await useNonces(old, 2);
    // The service reads the nonce before the old host uses two.
    moneta.intercept = ({ method, params }) =>
      method === "eth_getTransactionCount" && params[0] === address ? { result: "0x0" } : undefined;
    const to_address = await api.wallet();
    const body = { contract_address: contract, token_id: 1, from_address: address, to_address };
    expect(await api.done("/v1/transfers", body)).to.include({ status: "failed", error_code: "execution_reverted" });
    moneta.intercept = null;
    expect(await api.done("/v1/transfers", body)).to.include({ status: "completed" });
  });

  it("wait when the old host has delegated them to another contract, until the operator replaces that", async () => {
    const { user, address, old } = await imported();
    const { address: contract } = await foreign.plain(address, 1);
    const theirs = await foreign.programmed(0);
    const authorization = await old.authorize({ address: theirs, nonce: 1 });
    await (await old.sendTransaction({ to: LANDING, authorizationList: [authorization] })).wait();
    const to = await api.wallet();
    const body = { contract_address: contract, token_id: 1, from_address: address, to_address: to };
    const id = await api.accept("/v1/transfers", body);
    const reason = await eventually(async () => {
      const parked = rows().read.selectFrom("parked_rows").select("reason").where("id", "=", id);
      return (await parked.executeTakeFirst())?.reason;
    });
    expect(reason).to.contain("--replace-delegations");
    expect(await moneta.provider.getCode(address)).to.contain(theirs.slice(2).toLowerCase());
    const refused = await imports([`${user},${old.privateKey}`]);
    expect(refused.rows[0]).to.include({ result: "delegated", delegate: theirs });
    const replaced = await imports([`${user},${old.privateKey}`], "--replace-delegations");
    expect(replaced.rows[0]).to.include({ result: "already_there", delegate: theirs });
    expect((await api.settled(id)).status).to.equal("completed");
  });

  it("never sign for another app or wallet, whatever the database says", async () => {
    const [victim, thief] = [await imported(), await imported()];
    const ids: number[] = [];
    for (let token = 0; token < 2; token++) ids.push(Number((await api.mint(collection, victim.address)).nft_token_id));
    const spy = await moneta.createApp("thief");
    const { id: thiefs } = await rows()
      .read.selectFrom("apps")
      .select("id")
      .where("name", "like", "thief%")
      .executeTakeFirstOrThrow();
    const give = (address: string, app: string) =>
      rows().write((trx) => trx.updateTable("wallets").set({ app_id: app }).where("address", "=", address).execute());
    const sealedOf = async (wallet: string) => {
      const row = rows().read.selectFrom("imported_keys").select("sealed").where("wallet", "=", wallet);
      return (await row.executeTakeFirstOrThrow()).sealed;
    };
    const setSealed = (wallet: string, sealed: string) =>
      rows().write((trx) => trx.updateTable("imported_keys").set({ sealed }).where("wallet", "=", wallet).execute());
    const to = Wallet.createRandom().address;
    const body = (index: number) => ({
      ...{ contract_address: collection, token_id: Number(ids[index]), from_address: victim.address, to_address: to },
    });

    // Somebody who writes to the database gives the wallet to an app of his own.
    await give(victim.address, thiefs);
    const first = await spy.accept("/v1/transfers", body(0));
    await eventually(async () => ((await parkedIds(rows(), "request")).includes(first) ? true : undefined));
    await runCli(moneta.env, "request", "fail", first);
    await give(victim.address, moneta.app.appId);

    // With a derived wallet that works: docs/security.md says so.
    const derived = await api.wallet();
    const lost = (await api.mint(collection, derived)).nft_token_id;
    await give(derived, thiefs);
    await spy.move(collection, Number(lost), derived, to);
    await give(derived, moneta.app.appId);

    // Or swaps the keys of two wallets.
    const [mine, others] = [await sealedOf(victim.address), await sealedOf(thief.address)];
    await setSealed(victim.address, others);
    const second = await api.accept("/v1/transfers", body(1));
    await eventually(async () => ((await parkedIds(rows(), "request")).includes(second) ? true : undefined));
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    for (const id of ids) expect(await contract.ownerOf(id)).to.equal(victim.address);
    const { findings } = await jsonOfCli<Examination>(moneta.env, "doctor");
    expect(JSON.stringify(findings)).to.contain("is that of another wallet or app: the database was changed");

    await setSealed(victim.address, mine);
    await runCli(moneta.env, "parked", "retry", "request", second);
    expect((await api.settled(second)).status).to.equal("completed");
    expect((await spy.settled(first)).status).to.equal("failed");
    expect(await contract.ownerOf(ids[0] ?? 0)).to.equal(victim.address);
  });

  it("leave their keys nowhere: not in the database, in files or in logs", async () => {
    const { address, old } = await imported();
    const { address: contract } = await foreign.plain(address, 1);
    await api.move(contract, 1, address, await api.wallet());
    const stored = await everythingStored(moneta);
    expect(stored.filter(({ bytes }) => bytes.includes(address)).map(({ name }) => name)).to.include("imported_keys");
    const said = { name: "log", bytes: Buffer.from(JSON.stringify(lines)) };
    expect(lines.length).to.be.above(100);
    for (const privateKey of [...keys, old.privateKey]) {
      const raw = Buffer.from(privateKey.slice(2), "hex");
      const forms = [
        raw,
        ...["hex", "base64", "base64url"].map((form) => raw.toString(form as BufferEncoding).replace(/=+$/, "")),
      ];
      for (const { name, bytes } of [...stored, said])
        for (const form of forms) expect(bytes.includes(form), name).to.equal(false);
    }
  });
});
