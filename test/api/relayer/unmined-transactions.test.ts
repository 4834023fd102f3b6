import { expect } from "chai";
import type { Transaction } from "ethers";

import { isEmpty } from "../../../api/chain/transaction.ts";
import { openBatches } from "../../../api/store/sending/batches.ts";
import { readLane } from "../../../api/store/sending/lanes.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { lost, nothingOpen, onBroadcast, tip } from "./support/broadcasts.ts";

const GWEI = 10n ** 9n;
const SETTINGS = { REPLACE_SECONDS: "1", MAX_FEE_GWEI: "50" };

describe("unmined transactions", () => {
  // Transactions are replaced soon, and the service starts again with other lanes.
  const moneta = useService({ proxy: true, settings: SETTINGS, tuned: { rebroadcastSeconds: 1 } });
  let collection: string;
  let wallet: string;

  before(async () => {
    [collection, wallet] = [await moneta.api.collection({ type: "ERC721" }), await moneta.api.wallet()];
  });

  const mint = () => moneta.api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
  const minted = () => ERC721Collection__factory.connect(collection, moneta.provider).totalMinted();
  const lane = async () => {
    const row = await readLane(moneta.service.database.read, 0);
    if (row === undefined) throw new Error("the lane has sent something");
    return row;
  };

  describe("given a node that accepts a transaction only at a higher fee", () => {
    it("replaces it under the same nonce with at least 10 % more fee, and executes it once", async () => {
      const before = await minted();
      let refusals = 0;
      const sent = onBroadcast(moneta, () =>
        ++refusals <= 3 ? { error: { code: -32003, message: "max fee per gas less than block base fee" } } : undefined,
      );
      expect((await moneta.api.settled(await mint())).status).to.equal("completed");
      expect(sent.length).to.be.at.least(2);
      expect(new Set(sent.map(({ nonce, data }) => `${nonce.toString()} ${data}`)).size).to.equal(1);
      for (const [index, { maxFeePerGas, maxPriorityFeePerGas }] of sent.slice(1).entries()) {
        const previous = sent[index];
        for (const [next, last] of [
          [maxFeePerGas, previous?.maxFeePerGas],
          [maxPriorityFeePerGas, previous?.maxPriorityFeePerGas],
        ]) {
          expect((next ?? 0n) * 10n >= (last ?? 0n) * 11n).to.equal(true);
        }
      }
      await nothingOpen(moneta);
      expect((await minted()) - before).to.equal(1n);
    });
  });

  describe("given a network that never mines the batch", () => {
    it("closes its nonce with an empty transaction, and sends the requests under the next nonce", async () => {
      const before = await minted();
      const first = (await lane()).next_nonce;
      const sent = onBroadcast(moneta, (transaction) =>
        transaction.nonce === first && !isEmpty(transaction.serialized) ? lost(transaction) : undefined,
      );
      // Accepted in one commit, they share a batch.
      const items = Array.from({ length: 2 }, () => ({ collection_address: collection, to_address: wallet }));
      const ids = await moneta.api.acceptBatch("/v1/nfts/batch", items);
      const requests = await Promise.all(ids.map((id) => moneta.api.settled(id)));
      expect(requests.map(({ status }) => status)).to.deep.equal(["completed", "completed"]);
      const closing = sent.filter(({ nonce }) => nonce === first);
      // An empty transaction is replaced as well until its block was seen.
      const empty = closing.map(({ serialized }) => isEmpty(serialized));
      expect(empty.slice(0, 8)).to.deep.equal(Array(8).fill(false));
      expect(new Set(empty.slice(8))).to.deep.equal(new Set([true]));
      expect(requests.map(({ transaction_hash: hash }) => hash)).to.deep.equal(
        Array(2).fill(sent.find(({ nonce }) => nonce === first + 1)?.hash),
      );
      await nothingOpen(moneta);
      expect((await minted()) - before).to.equal(2n);
    });
  });

  describe("given a nonce that an unknown transaction has used", () => {
    it("sends the requests in another batch, because their numbers are not consumed", async () => {
      const before = await minted();
      const { address, next_nonce: first } = await lane();
      onBroadcast(moneta, (transaction) => (transaction.nonce === first ? lost(transaction) : undefined));
      const id = await mint();
      await eventually(async () => (await openBatches(moneta.service.database.read))[0]);
      await moneta.provider.send("hardhat_setNonce", [address, `0x${(first + 1).toString(16)}`]);
      await moneta.provider.send("evm_mine", []);
      expect((await moneta.api.settled(id)).status).to.equal("completed");
      await nothingOpen(moneta);
      expect((await minted()) - before).to.equal(1n);
    });
  });

  describe("given fees above the ceiling", () => {
    it("signs no replacement above the ceiling, and broadcasts the last attempt again", async () => {
      const broadcasts: Transaction[] = [];
      let held = true;
      onBroadcast(moneta, (transaction) => {
        broadcasts.push(transaction);
        return held ? lost(transaction) : undefined;
      });
      const { intercept } = moneta;
      // At once so dear that only few versions fit under the ceiling.
      moneta.intercept = (call) => (call.method === "eth_maxPriorityFeePerGas" ? tip(40n) : intercept?.(call));
      const id = await mint();
      const versions = () => new Set(broadcasts.map(({ hash }) => hash)).size;
      const last = () => broadcasts.filter(({ hash }) => hash === broadcasts.at(-1)?.hash).length;
      await eventually(() => Promise.resolve(last() >= 4 ? true : undefined));
      expect(versions()).to.be.at.most(3);
      for (const { maxFeePerGas } of broadcasts) expect((maxFeePerGas ?? 0n) <= 50n * GWEI).to.equal(true);
      held = false;
      expect((await moneta.api.settled(id)).status).to.equal("completed");
      await nothingOpen(moneta);
    });
  });

  describe("given a retired lane", () => {
    it("finishes the lane's open batches, and sends with another lane", async () => {
      onBroadcast(moneta, lost);
      const id = await mint();
      await eventually(async () => (await openBatches(moneta.service.database.read, 0))[0]);
      await moneta.stop();
      moneta.intercept = null;
      await moneta.start({ RETIRED_LANES: "0" });
      expect((await moneta.api.settled(id)).status).to.equal("completed");
      await nothingOpen(moneta);
      const { read } = moneta.service.database;
      const before = await readLane(read, 0);
      const later = await moneta.api.settled(await mint());
      expect(later.status).to.equal("completed");
      const sent = await moneta.provider.getTransaction(String(later["transaction_hash"]));
      expect(sent?.from).to.equal((await readLane(read, 1))?.address);
      expect((await readLane(read, 0))?.next_nonce).to.equal(before?.next_nonce);
      const ready = await fetch(`${moneta.service.baseUrl}/readyz`);
      expect([ready.status, await ready.text()]).to.have.property("0", 200);
    });
  });

  describe("given a lane that is no longer in the settings", () => {
    it("finishes the lane's open batches, and sends nothing new with it", async () => {
      await moneta.stop();
      await moneta.start({ LANES: "2" });
      onBroadcast(moneta, lost);
      const ids: string[] = [];
      // Both lanes claim requests until lane 0 has its maximum of unmined batches.
      await eventually(async () => {
        ids.push(await mint());
        return (await openBatches(moneta.service.database.read, 1))[0];
      });
      await moneta.stop();
      moneta.intercept = null;
      await moneta.start();
      const requests = await Promise.all(ids.map((id) => moneta.api.settled(id)));
      expect(new Set(requests.map(({ status }) => status))).to.deep.equal(new Set(["completed"]));
      await nothingOpen(moneta);
      const nonce = (await readLane(moneta.service.database.read, 1))?.next_nonce;
      expect((await moneta.api.settled(await mint())).status).to.equal("completed");
      expect((await readLane(moneta.service.database.read, 1))?.next_nonce).to.equal(nonce);
    });
  });
});
