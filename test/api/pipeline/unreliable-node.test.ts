import { expect } from "chai";

import { CREATED_TOPIC } from "../../../api/chain/codec/decode.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";

const BEHIND = 3;

describe("an unreliable node", () => {
  const moneta = useService();
  const { api } = moneta;
  const contents = (wallet: string, rest = "") =>
    api.ok<{ nfts: { token_id: number }[]; total: number; as_of_block?: number }>(
      "GET",
      `/v1/accounts/${wallet}${rest}`,
    );

  it("given one lagging back end that returns no logs for blocks it lacks: misses no log: the mint completes", async () => {
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    let unknown = 3;
    moneta.intercept = ({ method, params }) => {
      if (method !== "eth_getLogs") return undefined;
      const filter = params[0] as { blockHash?: string };
      if (filter.blockHash === undefined) return { result: [] };
      return unknown-- > 0 ? { error: { code: -32000, message: "unknown block" } } : undefined;
    };
    const mint = await api.mint(collection, to);
    expect(mint.nft_token_id).to.equal(1);
    expect(unknown).to.be.below(0);
  });

  it("given a head number that goes back and forth: does not roll back", async () => {
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await api.mint(collection, to);
    const before = await moneta.checkpoint();
    let asked = 0;
    moneta.intercept = ({ method }) => {
      if (method !== "eth_blockNumber") return undefined;
      asked += 1;
      return { result: `0x${(before - BEHIND).toString(16)}` };
    };
    await eventually(() => Promise.resolve(asked >= 5 ? true : undefined));
    expect(await moneta.checkpoint()).to.equal(before);
    expect((await contents(to)).total).to.equal(1);
    moneta.intercept = null;
    expect((await api.mint(collection, to)).nft_token_id).to.equal(2);
  });

  it("given a node without the state of a block: keeps foreign tokens, and reads them again later", async () => {
    const wallet = await api.wallet();
    const { contract: plain, address: contract } = await new Foreign(moneta).plain(wallet, 1);
    expect((await readContract(api, wallet, contract, await moneta.provider.getBlockNumber())).nfts).to.have.length(1);
    let refused = 0;
    moneta.intercept = ({ method, params }) => {
      if (method !== "eth_call" || params[1] === "latest") return undefined;
      refused += 1;
      return { error: { code: -32000, message: "header not found" } };
    };
    // Token 2 arrives, but the node cannot return the wallet's balance now.
    await (await plain.mint(wallet, 2)).wait();
    await eventually(() => Promise.resolve(refused >= 3 ? true : undefined));
    const head = await moneta.caughtUp();
    expect((await contents(wallet)).nfts.map((nft) => nft.token_id)).to.deep.equal([1]);
    expect((await contents(wallet, `/${contract}`)).as_of_block).to.be.below(head);
    moneta.intercept = null;
    const both = await eventually(async () => {
      const { nfts } = await contents(wallet);
      return nfts.length === 2 ? nfts : undefined;
    });
    expect(both.map((nft) => nft.token_id)).to.deep.equal([1, 2]);
  });

  it("given a call that names a collection before its block is stored: counts each of its tokens once", async () => {
    const [to, stored] = [await api.wallet(), await moneta.checkpoint()];
    // Only the indexer is stopped. The service asks for block 0 when it checks that this is still the same chain.
    let still = true;
    moneta.intercept = ({ method, params }) =>
      still && method === "eth_getBlockByNumber" && params[0] !== "latest" && params[0] !== "0x0"
        ? { error: { code: -32000, message: "?" } }
        : undefined;
    const id = await api.accept("/v1/collections", { type: "ERC721", name: "Early", symbol: "EAR" });
    const factory = moneta.service.contracts.factories[0].address;
    const address = await eventually(async () => {
      const logs = await moneta.provider.getLogs({
        address: factory,
        topics: [CREATED_TOPIC],
        fromBlock: stored + 1,
      });
      const data = logs[0]?.data;
      return data === undefined ? undefined : `0x${data.slice(26, 66)}`;
    });
    expect((await contents(to, `/${address}`)).total).to.equal(0);
    expect(await moneta.service.database.read.selectFrom("foreign_contracts").select("type").execute()).to.deep.include(
      { type: "ERC721" },
    );
    still = false;
    const { nft_collection: collection } = await api.settled(id);
    if (collection === null) throw new Error("a completed collection has an address");
    expect(collection.toLowerCase()).to.equal(address);
    await api.mint(collection, to);
    expect((await contents(to, `/${address}`)).total).to.equal(1);
    const { history } = await api.ok<{ history: object[] }>("GET", `/v1/accounts/${to}/history`);
    expect(history).to.have.length(1);
  });
});
