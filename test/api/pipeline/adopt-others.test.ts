import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import { unfollowContract } from "../../../api/store/ledger/indexed-contracts.ts";
import type { Shape } from "../../../client/client.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";
import { adoptAllowed, foreignRow, holdersOf, readBack, wrongTotals } from "../support/adopt.ts";
import { follow } from "../support/follow.ts";

const TOKENS = "token.minted,token.burned,token.sent,token.received,token.transferred";

describe("an adopted contract, and apps that follow it", () => {
  // Movements have no events until their blocks are deep.
  const moneta = useService({ proxy: true, settings: { CONFIRMATIONS: "4" } });
  let owner: JsonRpcSigner;
  before(async () => {
    owner = await moneta.provider.getSigner(3);
  });

  async function deploy(size: number) {
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, size);
    return { contract, address: await contract.getAddress() };
  }

  const mine = async (blocks: number) => {
    for (let count = 0; count < blocks; count++) await moneta.provider.send("evm_mine", []);
  };
  const appOf = async (wallet: string) =>
    (
      await moneta.service.database.read
        .selectFrom("wallets")
        .select("app_id")
        .where("address", "=", wallet)
        .executeTakeFirstOrThrow()
    ).app_id;

  it("leaves their histories as they are, and their events", async () => {
    const other = await moneta.createApp("other");
    const [wallet, ownWallet] = [await other.wallet(), await moneta.api.wallet()];
    const { contract, address } = await deploy(4);
    await readContract(other, wallet, address, await moneta.provider.getBlockNumber());
    await (await contract.transferFrom(owner.address, wallet, 0)).wait();
    await (await contract.transferFrom(owner.address, ownWallet, 1)).wait();
    await moneta.caughtUp();
    const history = async () => {
      const page = await other.ok<Shape<"HistoryPage">>("GET", `/v1/accounts/${wallet}/history`);
      return { total: page.total, moves: page.history.map((entry) => entry.transaction_hash) };
    };
    const before = await history();
    expect(before.total).to.equal(1);

    await adoptAllowed(moneta, address);
    await readBack(moneta, address);
    await mine(8);
    await moneta.caughtUp();
    expect(await history()).to.deep.equal(before);
    const told = await eventually(async () => {
      const { events } = await other.ok<Shape<"EventsFeed">>("GET", `/v1/events?after=start&types=${TOKENS}`);
      return events.length > 0 ? events : undefined;
    });
    expect(told.map((event) => [event.type, "token_id" in event && event.token_id])).to.deep.equal([
      ["token.received", 0],
    ]);
    // The app that has adopted it did not follow it.
    expect((await moneta.api.ok<Shape<"HistoryPage">>("GET", `/v1/accounts/${ownWallet}/history`)).total).to.equal(0);
    const { history: ofToken } = await moneta.api.ok<Shape<"HistoryPage">>(
      "GET",
      `/v1/collections/${address}/0/history`,
    );
    expect(ofToken.map(({ type }) => type)).to.deep.equal(["transfer", "mint"]);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  for (const follows of [false, true]) {
    it(`has ${follows ? "all events" : "no events of what was mined before"} for its app, if that ${follows ? "followed" : "did not follow"} it`, async () => {
      const api = await moneta.createApp(follows ? "follows first" : "adopts only");
      const wallet = await api.wallet();
      const { contract, address } = await deploy(3);
      await moneta.caughtUp();
      const head = await moneta.provider.getBlockNumber();
      if (follows) await readContract(api, wallet, address, head);
      // The block of this one is not stored when the contract is adopted, and read.
      moneta.intercept = ({ method }) =>
        method === "eth_blockNumber" ? { result: `0x${head.toString(16)}` } : undefined;
      await (await contract.transferFrom(owner.address, wallet, 0)).wait();
      await adoptAllowed(moneta, address, { appId: await appOf(wallet) });
      await eventually(async () => ((await foreignRow(moneta, address)).state === "followed" ? true : undefined));
      expect(await moneta.checkpoint()).to.equal(head);
      moneta.intercept = null;
      await (await contract.transferFrom(owner.address, wallet, 1)).wait();
      await mine(8);
      await moneta.caughtUp();
      const expected = follows ? [0, 1] : [1];
      const told = await eventually(async () => {
        const { events } = await api.ok<Shape<"EventsFeed">>("GET", `/v1/events?after=start&types=${TOKENS}`);
        const ids = events.flatMap((event) => ("token_id" in event ? [event.token_id] : []));
        return ids.includes(1) ? ids : undefined;
      });
      expect(told).to.deep.equal(expected);
      const { total } = await api.ok<Shape<"HistoryPage">>("GET", `/v1/accounts/${wallet}/history`);
      expect(total).to.equal(expected.length);
      expect(await wrongTotals(moneta)).to.deep.equal([]);
    });
  }

  it("is read once, however often an app begins and ends to follow it while a block is read", async () => {
    const other = await moneta.createApp("toggles");
    const appId = await appOf(await other.wallet());
    const { contract, address } = await deploy(3);
    await adoptAllowed(moneta, address);
    await readBack(moneta, address);
    const { database } = moneta.service;
    // It is not followed when the indexer looks who follows it, and is when the logs are there.
    let follows = 0;
    moneta.intercept = async ({ method }) => {
      if (method === "eth_blockNumber") await database.write((trx) => unfollowContract(trx, appId, address));
      if (method !== "eth_getLogs") return undefined;
      follows += 1;
      await follow(database, { app: appId, address });
      return undefined;
    };
    const head = await moneta.provider.getBlockNumber();
    await (await contract.transferFrom(owner.address, await other.wallet(), 1)).wait();
    await eventually(async () => ((await moneta.checkpoint()) > head ? true : undefined));
    moneta.intercept = null;
    expect(follows).to.be.greaterThan(3);
    expect((await foreignRow(moneta, address)).state).to.equal("followed");
    expect(await holdersOf(moneta, address)).to.have.length(3);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  it("refuses a first block that is not there yet", async () => {
    const { address } = await deploy(1);
    const fromBlock = (await moneta.provider.getBlockNumber()) + 1_000;
    const refused = await adoptAllowed(moneta, address, { fromBlock }).catch((error: unknown) => error);
    expect(refused).to.include({ errorCode: "validation_failed" });
  });

  it("counts as one of the contracts that its app follows", async () => {
    const api = await moneta.createApp("follows one");
    const appId = await appOf(await api.wallet());
    const [first, second] = [(await deploy(1)).address, (await deploy(1)).address];
    await follow(moneta.service.database, { app: appId, address: first });
    const refused = await adoptAllowed(moneta, second, { appId, most: 1 }).catch((error: unknown) => error);
    expect(refused).to.include({ errorCode: "too_many_contracts" });
    await adoptAllowed(moneta, first, { appId, most: 1 });
    await readBack(moneta, first);
    expect((await api.ok<Shape<"ContractsPage">>("GET", "/v1/contracts")).total).to.equal(1);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  it("is one app's, if two adopt it at the same time", async () => {
    const other = await moneta.createApp("second");
    const appId = await appOf(await other.wallet());
    const { address } = await deploy(2);
    const ends = await Promise.allSettled([adoptAllowed(moneta, address), adoptAllowed(moneta, address, { appId })]);
    expect(ends.map(({ status }) => status).sort()).to.deep.equal(["fulfilled", "rejected"]);
    await readBack(moneta, address);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  it("keeps an open transfer of an app that follows it, and one of its own", async () => {
    const other = await moneta.createApp("transfers");
    const [theirs, ours] = [await other.wallet(), await moneta.api.wallet()];
    const plain = await new PlainERC721__factory(owner).deploy();
    const address = await plain.getAddress();
    for (const [wallet, id] of [
      [theirs, 1],
      [ours, 2],
    ] as const)
      await (await plain.mint(wallet, id)).wait();
    await readContract(other, theirs, address, await moneta.provider.getBlockNumber());
    await readContract(moneta.api, ours, address, await moneta.provider.getBlockNumber());
    const order = { contract_address: address, to_address: owner.address };
    const sent = [
      await other.accept("/v1/transfers", { ...order, token_id: 1, from_address: theirs }),
      await moneta.api.accept("/v1/transfers", { ...order, token_id: 2, from_address: ours }),
    ];
    await adoptAllowed(moneta, address);
    for (const [index, api] of [other, moneta.api].entries())
      await eventually(async () => {
        await mine(1);
        const { status } = await api.ok<{ status: string }>("GET", `/v1/requests/${sent[index] ?? ""}`);
        return status === "completed" ? true : undefined;
      });
    await readBack(moneta, address);
    expect(await holdersOf(moneta, address)).to.deep.equal([`1 ${owner.address} 1`, `2 ${owner.address} 1`]);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });
});
