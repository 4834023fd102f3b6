import { expect } from "chai";
import { Wallet } from "ethers";

import type { Command } from "../../../api/domain/command.ts";
import { BatchSlots } from "../../../api/relayer/gas.ts";
import { usedBalances } from "../../../api/store/sending/mint-slots.ts";
import { useService } from "../../support/use-service.ts";

describe("BatchSlots", () => {
  // At the end transfers are in no block.
  const moneta = useService({ node: "deployed" });
  const { api } = moneta;

  const mintOf = (collection: string, to: string): Command => ({ kind: "mint-erc721", collection, to, metadata: null });
  const copiesOf = (collection: string, to: string): Command => ({
    kind: "mint-erc1155",
    collection,
    to,
    tokenId: "1",
    quantity: "1",
  });

  async function slotsOf(commands: Command[]) {
    return BatchSlots.of(moneta.service.database.read, commands);
  }

  it("counts a slot as written only after a command that the batch has", async () => {
    const [collection, to] = [Wallet.createRandom().address, Wallet.createRandom().address];
    for (const command of [mintOf(collection, to), copiesOf(collection, to)]) {
      const slots = await slotsOf([command, command]);
      expect(slots.find(command)).to.include({ balance: "new", supply: "used" });
      // The first one was rejected, so nothing was written.
      expect(slots.find(command)).to.include({ balance: "new", supply: "used" });
      slots.add(command);
      expect(slots.find(command)).to.include({ balance: "written", supply: "written" });
    }
  });

  it("knows a holder of a compact collection that once had a token, also without one now", async () => {
    const [collection, alice, bob] = [await api.collection({ type: "ERC721" }), await api.wallet(), await api.wallet()];
    const carol = await api.wallet();
    const { nft_token_id: id } = await api.completed("/v1/nfts", { collection_address: collection, to_address: alice });
    const token = { contract_address: collection, from_address: alice, to_address: bob, token_id: id ?? 0 };
    await api.completed("/v1/transfers", token);
    const commands = [alice, bob, carol].map((to) => mintOf(collection, to));
    const slots = await slotsOf(commands);
    const found = commands.map((command) => slots.find(command));
    expect(found.map(({ balance }) => balance)).to.deep.equal(["used", "used", "new"]);
    expect(found.map(({ storage }) => storage)).to.deep.equal(["compact", "compact", "compact"]);
    const editions = await api.collection({ type: "ERC1155" });
    expect((await slotsOf([copiesOf(editions, alice)])).find(copiesOf(editions, alice)).storage).to.equal("standard");
  });

  it("counts a balance as used unless an accepted transfer empties it", async () => {
    const [collection, alice, bob] = [await api.collection({ type: "ERC721" }), await api.wallet(), await api.wallet()];
    const editions = await api.collection({ type: "ERC1155" });
    const mint = { collection_address: collection, to_address: alice };
    const token = { contract_address: collection, from_address: alice, to_address: bob };
    const copies = { contract_address: editions, from_address: alice, to_address: bob, token_id: 1 };
    await api.completed("/v1/nfts", mint);
    await api.completed("/v1/nfts", mint);
    await api.completed("/v1/nfts", {
      collection_address: editions,
      initial_owner: alice,
      initial_supply: 2,
      token_id: 1,
    });
    const used = () =>
      usedBalances(moneta.service.database.read, [
        { contract: collection, owner: alice, tokenId: null, compact: false },
        { contract: editions, owner: alice, tokenId: "1", compact: false },
        { contract: collection, owner: bob, tokenId: null, compact: false },
      ]);
    await moneta.provider.send("evm_setAutomine", [false]);
    expect(await used()).to.deep.equal([true, true, false]);
    await api.accept("/v1/transfers", { ...token, token_id: 1 });
    await api.accept("/v1/transfers", { ...copies, amount: 1 });
    expect(await used()).to.deep.equal([true, true, false]);
    await api.accept("/v1/transfers", { ...token, token_id: 2 });
    await api.accept("/v1/transfers", { ...copies, amount: 1 });
    expect(await used()).to.deep.equal([false, false, false]);
  });
});
