import { expect } from "chai";

import { adoptWallets } from "../../../api/commands/adopt-wallets.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { FaultyNode } from "../../../scripts/scene/faulty-node.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { readContract } from "../../support/read-contract.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";
import { contents, countedTotals } from "../support/contents.ts";
import { randomAddress } from "../support/rows.ts";
import { DAMAGES } from "./support/damages.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describe("reconcile", () => {
  // Tests damage rows, and compare the whole database.
  const moneta = useService({ node: "deployed" });
  const { api } = moneta;
  let [from, to] = ["", ""];
  let erc721: string;
  let erc1155: string;
  let foreign: string;

  before(async () => {
    [from, to] = [await api.wallet(), await api.wallet()];
    erc721 = await api.collection({ type: "ERC721", mint_supply_count: 10 });
    erc1155 = await api.collection({ type: "ERC1155", base_uri: "ipfs://x/{id}" });
    for (const name of ["One", "Two"])
      await api.completed("/v1/nfts", { collection_address: erc721, to_address: from, name });
    await api.completed("/v1/nfts", {
      collection_address: erc1155,
      initial_owner: from,
      token_id: 5,
      initial_supply: 10,
    });
    const moved = { from_address: from, to_address: to };
    await api.completed("/v1/transfers", { ...moved, contract_address: erc1155, token_id: 5, amount: 4 });
    await api.completed("/v1/transfers", { ...moved, contract_address: erc721, token_id: 1 });
    const owner = await moneta.provider.getSigner(4);
    const plain = await (await new PlainERC721__factory(owner).deploy()).waitForDeployment();
    foreign = await plain.getAddress();
    await (await plain.mint(from, 3)).wait();
    await readContract(api, from, foreign, await moneta.provider.getBlockNumber());
    await caughtUp();
  });

  async function caughtUp(): Promise<void> {
    const head = await moneta.provider.getBlockNumber();
    await eventually(async () =>
      (await contents(moneta.service.database)).checkpoint === head.toString() ? true : undefined,
    );
  }

  /** The rows that must be restored, without their row numbers, and the events of tokens, to which nothing must be added. */
  async function state() {
    const { transfers, history, ...rest } = await contents(moneta.service.database);
    const ends = await moneta.service.database.read
      .selectFrom("transfers")
      .select(["id", "from_address", "to_address"])
      .execute();
    const entries = transfers.map(({ id, ...transfer }) => ({
      ...transfer,
      ends: ends.filter((entry) => entry.id === id).map((entry) => [entry.from_address, entry.to_address]),
      wallets: history.filter((entry) => entry.transfer_id === id).map((entry) => entry.wallet),
    }));
    const told = await moneta.service.database.read
      .selectFrom("events")
      .select("id")
      .where("block_number", "is not", null)
      .orderBy("seq")
      .execute();
    return { ...rest, entries, told };
  }

  const run = (...words: string[]) => jsonOfCli<Reconciliation>(moneta.env, "reconcile", ...words);

  it("goes on with the next node when the first one dies in the middle", async () => {
    const nodes = [await FaultyNode.start(moneta.node.url), await FaultyNode.start(moneta.node.url)];
    try {
      const [first, second] = nodes;
      if (first !== undefined) first.fault = { kind: "dies-at", method: "eth_getLogs" };
      const env = { ...moneta.env, RPC_URL: "", RPC_URLS: nodes.map(({ url }) => url).join(",") };
      const { comparison } = await jsonOfCli<Reconciliation>(env, "reconcile", "--dry-run", "--from-start");
      expect(comparison).to.include({ differences: 0 });
      expect(first?.fault).to.deep.equal({ kind: "dead" });
      expect(second?.calls.get("eth_getLogs")).to.be.greaterThan(0);
    } finally {
      for (const node of nodes) await node.stop();
    }
  });

  for (const [what, damage] of Object.entries(DAMAGES)) {
    it(`given ${what}: reports it, corrects it, and then finds no difference`, async () => {
      const right = await state();
      await moneta.service.database.write((trx) => damage(trx, { from, to, erc721, erc1155, foreign }));
      const damaged = await state();
      expect(damaged).to.not.deep.equal(right);
      const seen = await run("--dry-run");
      expect(seen.comparison.differences).to.be.greaterThan(0);
      expect(await state()).to.deep.equal(damaged);
      const mended = await run();
      expect(mended.comparison.told).to.deep.include.members(seen.comparison.told);
      expect(await state()).to.deep.equal(right);
      expect(await countedTotals(moneta.service.database)).to.deep.equal([]);
      expect((await run()).comparison.told).to.deep.equal([]);
    });
  }

  it("given a collection of which nobody knows whether its royalty is frozen, as after an upgrade: finds it, and reports no difference", async () => {
    const right = await state();
    const contract = ERC1155Collection__factory.connect(erc1155, await moneta.provider.getSigner(0));
    const unknown = { royalty_frozen: null };
    const { database } = moneta.service;
    await database.write((trx) => trx.updateTable("collections").set(unknown).execute());
    const listed = await api.ok<{ collections: object[] }>("GET", "/v1/collections");
    for (const one of listed.collections) expect(one).to.include({ royalty_frozen: null });
    expect((await run("--dry-run")).comparison.told).to.deep.equal([]);
    expect((await runCli(moneta.env, "reconcile")).output).to.match(
      /^The database matches the chain up to block \d+\.\n$/,
    );
    expect(await contract.royaltyFrozen()).to.equal(false);
    expect(await state()).to.deep.equal(right);
  });

  it("given a watch-only wallet: does not miss the history of the time before it was adopted", async () => {
    const { database, contracts } = moneta.service;
    const address = randomAddress();
    await api.mint(erc721, address);
    await caughtUp();
    await adoptWallets(database, contracts, moneta.app.appId, [{ user: "wanda", address }]);
    await api.mint(erc721, address);
    await caughtUp();
    expect((await run("--dry-run")).comparison.told).to.deep.equal([]);
    const { total } = await api.ok("GET", `/v1/accounts/${address}/history`);
    expect(total).to.equal(1);
  });

  it("given a backup that knows another attempt of a mined transaction: adds the mined attempt, reads its block again, and emits no event twice", async () => {
    const { read } = moneta.service.database;
    const attempt = await read
      .selectFrom("attempts")
      .select(["id", "hash", "batch_id"])
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    const events = () => read.selectFrom("events").select(["request_id", "type"]).orderBy("seq").execute();
    const [right, told] = [await state(), await events()];
    await moneta.service.database.write((trx) =>
      trx
        .updateTable("attempts")
        .set({ hash: `0x${"0".repeat(64)}` })
        .where("id", "=", attempt.id)
        .execute(),
    );
    const result = await run();
    expect(result.recovery).to.include({ transactions: 1, added: 0 });
    expect(result.comparison.told).to.deep.equal([]);
    await caughtUp();
    const hashes = await read
      .selectFrom("attempts")
      .select("hash")
      .where("batch_id", "=", attempt.batch_id)
      .orderBy("id")
      .execute();
    expect(hashes.map((row) => row.hash)).to.include(attempt.hash);
    const batch = await read
      .selectFrom("batches")
      .select("status")
      .where("id", "=", attempt.batch_id)
      .executeTakeFirstOrThrow();
    expect(batch.status).to.equal("closed");
    expect(await events()).to.deep.equal(told);
    // After the rollback the foreign contract is followed from an earlier block, so its history may begin earlier.
    const own = ({ counters: _counters, entries, ...rest }: Awaited<ReturnType<typeof state>>) => ({
      ...rest,
      entries: entries.filter((entry) => entry.contract !== foreign),
    });
    expect(own(await state())).to.deep.equal(own(right));
    expect(await countedTotals(moneta.service.database)).to.deep.equal([]);
    expect((await run()).recovery).to.equal(null);
  });

  it("given transactions in the node's pool that the database does not know: refuses until they are mined, and then continues at the next nonce", async () => {
    const lane = await moneta.service.database.read.selectFrom("lanes").selectAll().executeTakeFirstOrThrow();
    await moneta.provider.send("hardhat_impersonateAccount", [lane.address]);
    await moneta.provider.send("evm_setAutomine", [false]);
    const nonce = `0x${lane.next_nonce.toString(16)}`;
    await moneta.provider.send("eth_sendTransaction", [
      { from: lane.address, to: lane.address, value: "0x0", gas: "0x5300", nonce },
    ]);
    const error = await rejectionOf(runCli(moneta.env, "reconcile"));
    expect(error.message).to.match(/transaction pool holds transactions of .* that the database does not know/);
    await moneta.provider.send("evm_setAutomine", [true]);
    await moneta.provider.send("hardhat_mine", ["0x1"]);
    const result = await run();
    expect(result.recovery?.lanes).to.deep.equal([
      { lane: 0, address: lane.address, known: lane.next_nonce, mined: lane.next_nonce + 1 },
    ]);
    // The running service lost its lease, takes it again, and continues with the next nonce.
    await api.completed("/v1/nfts", { collection_address: erc721, to_address: to });
    expect((await run()).recovery).to.equal(null);
  });

  it("given a service that is sending requests: finds no difference", async () => {
    const editions = await api.collection({ type: "ERC1155" });
    await api.completed("/v1/nfts", {
      collection_address: editions,
      initial_owner: from,
      token_id: 1,
      initial_supply: 1,
    });
    const busy = Promise.all(
      Array.from({ length: 60 }, () =>
        api.completed("/v1/nfts", { collection_address: editions, to_address: to, token_id: 1, quantity: 1 }),
      ),
    );
    const results = [await run(), await run()];
    await busy;
    results.push(await run());
    for (const result of results) expect(result.comparison.told).to.deep.equal([]);
    expect(await countedTotals(moneta.service.database)).to.deep.equal([]);
  });
});
