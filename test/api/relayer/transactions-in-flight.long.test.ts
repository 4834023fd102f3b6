import { expect } from "chai";
import { Wallet } from "ethers";

import { openBatches } from "../../../api/store/sending/batches.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

/** More than fit into two blocks. */
const BATCHES = 5;
const ITEMS = 1_000;
const BURST = 750;

describe("transactions in flight", () => {
  // Tests count the transactions of the whole service, while the node mines none.
  const moneta = useService({ node: "deployed" });
  const { api } = moneta;
  let collection: string;
  let to: string;
  /** Mints of all tests. */
  let accepted = 0;

  before(async () => {
    [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
  });

  const open = () => openBatches(moneta.service.database.read);

  /** Accepts many mints while no block is mined. */
  async function accept(batches: number): Promise<void> {
    for (let count = 0; count < batches; count++) {
      const items = Array.from({ length: ITEMS }, () => ({ collection_address: collection, to_address: to }));
      accepted += (await api.acceptBatch("/v1/nfts/batch", items)).length;
    }
  }

  async function mineAll(): Promise<void> {
    await moneta.provider.send("evm_setAutomine", [true]);
    const completed = await eventually(async () => {
      await moneta.provider.send("evm_mine", []);
      const { total } = await api.ok<{ total: number }>("GET", "/v1/requests?status=completed&type=mint&limit=1");
      return total >= accepted ? total : undefined;
    });
    expect(completed).to.equal(accepted);
  }

  it("are two blocks of them while no block comes, in the order of their nonces, and no mint is lost", async () => {
    const { gasLimit = 0n } = (await moneta.provider.getBlock("latest")) ?? {};
    await moneta.provider.send("evm_setAutomine", [false]);
    await accept(BATCHES);
    const batches = await eventually(async () => {
      const now = await open();
      const gas = now.reduce((sum, { attempts }) => sum + Number(attempts[0]?.gasLimit ?? 0n), 0);
      const full = now.length === 16 || gas >= 2 * Number(gasLimit);
      return full && now.every(({ attempts }) => attempts[0]?.sentAt !== null) ? now : undefined;
    });
    expect(batches.length).to.be.within(5, 16);
    const [first = 0, ...others] = batches.map(({ nonce }) => nonce);
    expect(others).to.deep.equal(others.map((_, index) => first + index + 1));
    await mineAll();
    expect(await open()).to.deep.equal([]);
  });

  it("are spread over the time until the next block while requests come one by one", async () => {
    await moneta.provider.send("evm_setAutomine", [false]);
    const batches = await eventually(async () => {
      await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
      accepted += 1;
      const now = await open();
      return now.length >= 4 ? now : undefined;
    });
    const times = batches.map(({ attempts }) => attempts[0]?.createdAt ?? 0);
    const pauses = times.slice(1, 4).map((time, index) => time - (times[index] ?? 0));
    expect(pauses[0]).to.be.at.least(500);
    expect(pauses[1]).to.be.at.least(750);
    expect(pauses[2]).to.be.at.least(1_125);
    await mineAll();
  });

  it("are as few as possible for a burst of requests that fits into a block", async () => {
    await moneta.provider.send("evm_setAutomine", [false]);
    // Four and a bit of these transactions fit into a block, so smaller ones would fill it.
    const items = Array.from({ length: BURST }, () => ({
      collection_address: collection,
      to_address: Wallet.createRandom().address,
    }));
    await api.acceptBatch("/v1/nfts/batch", items);
    const batches = await eventually(async () => {
      const now = await open();
      return now.reduce((sum, { size }) => sum + size, 0) === BURST ? now : undefined;
    });
    expect(batches.map(({ size }) => size)).to.deep.equal([250, 250, 250]);
    accepted += BURST;
    await mineAll();
  });
});
