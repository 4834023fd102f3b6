import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { foreignRow, holdersOf, wrongTotals } from "../support/adopt.ts";
import { mintingContract } from "../support/mint-adopted.ts";

const MOST_MOVES = 20;

describe("minting into an adopted contract, reorgs and floods", () => {
  // The chain is reverted, and floods begin early.
  const moneta = useService({ settings: { CONFIRMATIONS: "4" }, limits: { foreignLogs: MOST_MOVES } });
  let owner: JsonRpcSigner;

  before(async () => {
    owner = await moneta.provider.getSigner(3);
  });

  const ready = () => mintingContract(moneta, owner);
  const mine = (blocks: number) => moneta.provider.send("hardhat_mine", [`0x${blocks.toString(16)}`]);
  const requestOf = (id: string) => moneta.api.ok<Shape<"Request">>("GET", `/v1/requests/${id}`);
  const inBlock = (id: string) =>
    eventually(async () => ((await requestOf(id)).block_number !== null ? true : undefined));

  const settledAsBlocksCome = (id: string) =>
    eventually(async () => {
      await mine(1);
      return ["completed", "failed"].includes((await requestOf(id)).status) ? true : undefined;
    });

  it("mints again what a reorg has dropped, once", async () => {
    const { contract, address } = await ready();
    const wallet = await moneta.api.wallet();
    const before: unknown = await moneta.provider.send("evm_snapshot", []);
    const ids = await Promise.all(
      [1, 2, 3].map((id) =>
        moneta.api.accept("/v1/nfts", {
          ...{ collection_address: address, to_address: wallet, token_id: id, name: `Cat ${id.toString()}` },
        }),
      ),
    );
    for (const id of ids) await inBlock(id);
    await moneta.provider.send("evm_revert", [before]);
    for (const id of ids) await settledAsBlocksCome(id);
    expect((await Promise.all(ids.map(requestOf))).map((one) => [one.status, one.nft_token_id])).to.deep.equal([
      ["completed", 1],
      ["completed", 2],
      ["completed", 3],
    ]);
    expect(await contract.balanceOf(wallet)).to.equal(3n);
    expect(await holdersOf(moneta, address)).to.deep.equal([1, 2, 3].map((id) => `${id.toString()} ${wallet} 1`));
    const { nfts } = await moneta.api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}`);
    expect(nfts.map((nft) => nft.metadata?.name).sort()).to.deep.equal(["Cat 1", "Cat 2", "Cat 3"]);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  it("is no flood, however many tokens the app mints", async () => {
    const { address } = await ready();
    const wallet = await moneta.api.wallet();
    const ids = await Promise.all(
      Array.from({ length: 3 * MOST_MOVES }, (_, id) =>
        moneta.api.accept("/v1/nfts", { collection_address: address, to_address: wallet, token_id: id }),
      ),
    );
    for (const id of ids) await settledAsBlocksCome(id);
    expect(new Set((await Promise.all(ids.map(requestOf))).map((one) => one.nft_token_id)).size).to.equal(ids.length);
    expect((await foreignRow(moneta, address)).state).to.equal("followed");
  });

  it("is a flood if one mint logs many moves", async () => {
    const { contract, address } = await ready();
    await (await contract.setOdd(7)).wait();
    const to = await moneta.api.wallet();
    await moneta.api.accept("/v1/nfts", { collection_address: address, to_address: to, token_id: 1 });
    await eventually(async () => {
      await mine(1);
      return (await foreignRow(moneta, address)).state === "quarantined" ? true : undefined;
    });
  });
});
