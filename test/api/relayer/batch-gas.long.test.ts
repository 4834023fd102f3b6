import { expect } from "chai";
import { Wallet } from "ethers";

import { abi } from "../../../api/chain/abi.ts";
import { STORAGES } from "../../../api/domain/command.ts";
import { RESERVE } from "../../../api/relayer/gas.ts";
import { useService } from "../../support/use-service.ts";

interface Call {
  number: bigint;
  target: string;
  gasLimit: bigint;
}

/** How much less a zero byte of the calldata costs than another one. */
const ZERO_BYTE = 12;
/** The part of a request's number that counts. The part before it, of 8 bytes, is random. */
const COUNTER_BITS = 32n;

/**
 * The zero bytes in what a call has by chance: its collection's address, and its number. The service counts the words around a
 * call's data at one price. All items of a batch have these bytes, so a zero byte is a thousandth of what a cheap batch uses.
 */
function randomZeroBytes({ number, target }: Call): number {
  const random = Buffer.from(target.slice(2) + (number >> COUNTER_BITS).toString(16).padStart(16, "0"), "hex");
  return random.filter((byte) => byte === 0).length;
}

/** Items of each batch: what a transaction has once is then a small part. */
const ITEMS = 150;

/** A known holder's mint of a compact collection uses so little that what is rounded up is a larger part of it. */
const ONE_HOLDER = { compact: 0.9, standard: 0.93 };

for (const storage of STORAGES) {
  describe(`gas limit of a batch, ${storage} storage`, () => {
    // Its contracts are those of one storage.
    const moneta = useService({ node: "empty", storage });
    const ofOneHolder = ONE_HOLDER[storage];
    const { api } = moneta;

    /** Sends the calls in one batch. @returns the transactions, with the gas that they were expected to use. */
    async function send(
      items: Record<string, unknown>[],
      path: "/v1/nfts/batch" | "/v1/burns/batch" = "/v1/nfts/batch",
    ) {
      const requests = [];
      for (const id of await api.acceptBatch(path, items)) requests.push(await api.settled(id));
      expect(requests.filter(({ status }) => status !== "completed")).to.deep.equal([]);
      const hashes = [...new Set(requests.map(({ transaction_hash: hash }) => hash ?? ""))];
      return Promise.all(hashes.map(gasOf));
    }

    async function gasOf(hash: string) {
      const [sent, receipt] = await Promise.all([
        moneta.provider.getTransaction(hash),
        moneta.provider.getTransactionReceipt(hash),
      ]);
      if (sent === null || receipt === null) throw new Error("it is in a block");
      const [calls] = abi.relay.decodeFunctionData("execute", sent.data) as unknown as [Call[]];
      const largest = Math.max(...calls.map(({ gasLimit }) => Number(gasLimit)));
      const counted = Number(sent.gasLimit) - RESERVE - Math.ceil((largest * 64) / 63);
      const zeroBytes = calls.reduce((sum, call) => sum + randomZeroBytes(call), 0);
      return { items: calls.length, counted, used: Number(receipt.gasUsed) + zeroBytes * ZERO_BYTE };
    }

    /** The mints share one transaction, which uses nearly all that was counted for them, and not more. */
    async function expectClose(items: Record<string, unknown>[], atLeast = 0.93) {
      const transactions = await send(items);
      expect(transactions).to.have.length(1);
      const [{ counted, used } = { counted: 0, used: 1 }] = transactions;
      const words = `used ${used.toString()}, counted ${counted.toString()}`;
      expect(used, words).to.be.below(counted);
      expect(used / counted, words).to.be.above(atLeast);
    }

    const uri = `https://app.example/${"x".repeat(2_000)}`;
    for (const { words, fields } of [
      { words: "an ERC721 collection", fields: { soulbound: false } },
      { words: "a soulbound collection", fields: { soulbound: true } },
      {
        words: "a soulbound collection with long URIs",
        fields: { soulbound: true, base_uri: uri, collection_uri: uri },
      },
    ]) {
      describe(`given mints of ${words}`, () => {
        let collection: string;
        let wallets: string[];
        const mint = (to: string) => ({ collection_address: collection, to_address: to });
        before(async () => {
          collection = await api.collection({ type: "ERC721", ...fields });
          wallets = await Promise.all(Array.from({ length: ITEMS }, () => api.wallet()));
          await api.completed("/v1/nfts", mint(wallets[0] ?? ""));
        });

        it("is close to what mints to one wallet use", () =>
          expectClose(
            wallets.map(() => mint(wallets[0] ?? "")),
            ofOneHolder,
          ));
        it("is close to what mints to new wallets use", () => expectClose(wallets.map(mint)));
        it("is close to what mints to wallets use that have tokens", () => expectClose(wallets.map(mint)));
        if (fields.soulbound) return;
        it("is close to what mints to accounts of others use", () =>
          expectClose(wallets.map(() => mint(Wallet.createRandom().address))));
      });
    }

    describe("given burns", () => {
      /**
       * Every call fits. A burn is counted as a transfer without a receiver, to a new slot for each: those of one holder share
       * their slots, and the chain gives gas back for each slot that they clear.
       */
      async function expectBurnt(items: Record<string, unknown>[]) {
        const transactions = await send(items, "/v1/burns/batch");
        expect(transactions.reduce((sum, one) => sum + one.items, 0)).to.equal(items.length);
        for (const { counted, used } of transactions) {
          expect(used).to.be.at.most(counted);
          expect(used / counted).to.be.at.least(0.3);
        }
      }

      it("counts enough for single tokens, and for copies", async () => {
        const burns = 40;
        const holder = await api.wallet();
        const single = await api.collection({ type: "ERC721" });
        await send(Array.from({ length: burns }, () => ({ collection_address: single, to_address: holder })));
        const ids = Array.from({ length: burns }, (_, index) => index + 1);
        const token = { from_address: holder, contract_address: single };
        await expectBurnt(ids.map((token_id) => ({ ...token, token_id })));
        const copies = await api.collection({ type: "ERC1155" });
        const created = { collection_address: copies, initial_owner: holder, initial_supply: 2 };
        await send(ids.map((token_id) => ({ ...created, token_id })));
        const some = { from_address: holder, contract_address: copies, amount: 1 };
        for (let times = 0; times < 2; times++) await expectBurnt(ids.map((token_id) => ({ ...some, token_id })));
        const { read } = moneta.service.database;
        const rows = read.selectFrom("requests").select("returns").where("type", "=", "burn");
        expect((await rows.execute()).filter(({ returns }) => returns > 0)).to.deep.equal([]);
      });
    });

    describe("given mints of an ERC1155 collection", () => {
      let collection: string;
      let wallets: string[];
      const more = (to: string) => ({ collection_address: collection, to_address: to, token_id: 1, quantity: 1 });
      before(async () => {
        collection = await api.collection({ type: "ERC1155" });
        wallets = await Promise.all(Array.from({ length: ITEMS }, () => api.wallet()));
      });

      it("is close to what new ids use", () =>
        expectClose(
          wallets.map((to, index) => ({
            collection_address: collection,
            initial_owner: to,
            initial_supply: 1,
            token_id: index + 1,
          })),
          0.88,
        ));
      it("is close to what copies for one wallet use", () => expectClose(wallets.map(() => more(wallets[1] ?? ""))));
      it("is close to what copies for new wallets use", () => expectClose(wallets.slice(2).map(more)));
      it("is close to what copies for wallets use that have copies", () => expectClose(wallets.map(more)));
    });
  });
}
