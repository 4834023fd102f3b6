import { expect } from "chai";
import { toBeHex } from "ethers";

import { abi } from "../../../api/chain/abi.ts";
import type { Command } from "../../../api/domain/command.ts";
import { measurementFromSlotPrice, type MintSlots, UNKNOWN_SLOTS } from "../../../api/domain/gas-estimate.ts";
import { itemGas } from "../../../api/relayer/gas.ts";
import { blockCandidates, slotOf } from "../../contracts/support/compact-layout.ts";
import { useService } from "../../support/use-service.ts";

const WALLETS = 100;

describe("mints and transfers in a compact collection, whose keys others have taken", () => {
  const moneta = useService();
  const { api } = moneta;
  let collection: string;
  let wallets: string[];

  const setStorageAt = (address: string, slot: string, value: bigint) =>
    moneta.provider.send("hardhat_setStorageAt", [address, slot, toBeHex(value, 32)]);

  before(async () => {
    collection = await api.collection({ type: "ERC721" });
    wallets = await Promise.all(Array.from({ length: WALLETS }, () => api.wallet()));
    for (const wallet of wallets) await blockCandidates(collection, wallet, { setStorageAt });
  });

  /** @returns how often a request was in a transaction that ended before it. */
  async function completed(...batch: Parameters<typeof api.acceptBatch>): Promise<number> {
    const ids = await api.acceptBatch(...batch);
    const settled = [];
    for (const id of ids) settled.push(await api.settled(id));
    expect(settled.filter(({ status }) => status !== "completed")).to.deep.equal([]);
    for (const { transaction_hash: hash } of settled) {
      const sent = await moneta.provider.getTransaction(hash ?? "");
      const [calls] = abi.relay.decodeFunctionData("execute", sent?.data ?? "") as unknown as [{ gasLimit: bigint }[]];
      // What such a call costs under the rules of Amsterdam would not be above it either.
      expect(Math.min(...calls.map(({ gasLimit }) => Number(gasLimit)))).to.be.above(4 * 63_500);
    }
    const { read } = moneta.service.database;
    const rows = await read.selectFrom("requests").select("returns").where("id", "in", ids).execute();
    return rows.reduce((sum, { returns }) => sum + returns, 0);
  }

  it("all succeed: no call runs out of gas, whatever the transaction was planned for", async () => {
    const mint = (to: string) => ({ collection_address: collection, to_address: to });
    const first = await completed("/v1/nfts/batch", wallets.map(mint));
    const second = await completed("/v1/nfts/batch", wallets.map(mint));
    const held = await moneta.provider.getStorage(collection, slotOf("plainBalances", wallets[0] ?? ""));
    expect(BigInt(held)).to.equal(2n);
    // The transactions end early instead: what is left goes into the next one, never more than a few times.
    expect(first + second).to.be.below(4 * WALLETS);
    const { nfts } = await api.ok<{ nfts: { token_id: number }[] }>("GET", `/v1/accounts/${wallets[0] ?? ""}`);
    const move = { contract_address: collection, from_address: wallets[0], to_address: wallets[1] };
    await completed(
      "/v1/transfers/batch",
      nfts.map(({ token_id: id }) => ({ ...move, token_id: id })),
    );
  });
});

describe("the gas limit of a mint in a compact collection", () => {
  for (const newSlot of [22_108, 102_928, 1_000_000]) {
    it(`covers a holder whose keys are taken, where a new slot costs ${newSlot.toString()}`, () => {
      const measured = measurementFromSlotPrice(newSlot);
      const command: Command = { kind: "mint-erc721", collection: "0x", to: "0x", metadata: null };
      for (const balance of ["new", "used"] as const) {
        const slots: MintSlots = { ...UNKNOWN_SLOTS, storage: "compact", balance, supply: "written" };
        const { limit, expected } = itemGas(
          measured,
          { command, data: "0x", slots, toWallet: true },
          "own code",
          1_000_000,
        );
        // The token's owner and the holder's balance, a word of owners, and four words that belong to others.
        const slotsOfPlain = balance === "new" ? 3 * newSlot : 2 * newSlot + measured.slotUpdate;
        const known = measured.compact.mintErc721 - newSlot;
        expect(limit).to.be.above(known + slotsOfPlain + 4 * measured.slotUpdate);
        // What is counted for it is still what such mints usually use.
        expect(expected).to.be.below(1.1 * (known + (balance === "new" ? newSlot : 0) + newSlot / 8 + 8_000));
      }
    });
  }
});
