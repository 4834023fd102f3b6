import { expect } from "chai";
import { type JsonRpcSigner, Wallet } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { HostileERC721__factory } from "../../../types/ethers-contracts/factories/mocks/HostileERC721__factory.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import type { HostileERC721 } from "../../../types/ethers-contracts/mocks/HostileERC721.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { Foreign } from "../../support/foreign.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";

const MODES = { returnMegabytes: 1, burnAllGas: 2, revertWithMegabytes: 3 } as const;
/** Milliseconds within which another app's mint completes on a slow and busy machine. The attacks took longer on a fast one. */
const PROMPT = 120_000;
/** Growth of the whole process during an attack, in bytes. The attack took 1.9 GB. */
const MEMORY = 400 * 1_048_576;
/** Logs of one transaction that fit into its gas. */
const LOGS_AT_ONCE = 5_000;
const ERC721 = PlainERC721__factory.createInterface();

describe("a hostile foreign contract", () => {
  // Failing reads count towards the rate of an app, too. The contracts stay hostile when the tests are over.
  const moneta = useService({ proxy: true, limits: { contractReads: 1_000 } });
  const { api } = moneta;
  let outsider: JsonRpcSigner;
  let other: ApiClient;
  let collection: string;
  let theirs: string;
  const asked: string[] = [];

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
    other = await moneta.createApp("other");
    theirs = await other.wallet();
    collection = await other.collection({ type: "ERC721" });
  });
  beforeEach(() => {
    asked.length = 0;
  });

  /** A contract that follows the rules until the app follows it. @returns it with a wallet of the app. */
  async function followed(): Promise<{ hostile: HostileERC721; address: string; wallet: string }> {
    const hostile = await (await new HostileERC721__factory(outsider).deploy()).waitForDeployment();
    const [address, wallet] = [await hostile.getAddress(), await api.wallet()];
    await readContract(api, wallet, address);
    return { hostile, address, wallet };
  }

  const head = () => moneta.provider.getBlockNumber();

  async function otherAppMints(): Promise<number> {
    const start = performance.now();
    await other.mint(collection, theirs);
    return performance.now() - start;
  }

  const stateOf = async (address: string): Promise<Shape<"FollowedContract"> | undefined> =>
    (await api.ok<Shape<"ContractsPage">>("GET", "/v1/contracts")).contracts.find((one) => one.address === address);
  const quarantined = (address: string) =>
    eventually(async () => {
      const found = await stateOf(address);
      return found?.state === "quarantined" ? found : undefined;
    });

  for (const [mode, title] of [
    ["returnMegabytes", "answers 2.8 MB"],
    ["burnAllGas", "burns all gas"],
    ["revertWithMegabytes", "reverts with 2.8 MB"],
  ] as const) {
    it(`given 300 transfers to a wallet that ${title}: delays no other app's mint, keeps memory bounded, and is quarantined`, async () => {
      const { hostile, address, wallet } = await followed();
      const before = process.memoryUsage().rss;
      let most = before;
      const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
      try {
        await (await hostile.program(MODES[mode])).wait();
        await (await hostile.spam(outsider.address, wallet, 1, 300)).wait();
        expect(await otherAppMints()).to.be.below(PROMPT);
        expect(await quarantined(address)).to.include({ reason: "failing" });
        expect(await otherAppMints()).to.be.below(PROMPT);
      } finally {
        clearInterval(watch);
      }
      expect(most - before).to.be.below(MEMORY);
      // The list says that it is not complete.
      const page = await readContract(api, wallet, address);
      expect(page.as_of_block).to.be.below(await head());
      expect(page.total).to.equal(0);
    });
  }

  it("given 20,000 transfers between strangers: drops them, quarantines the contract, and delays no other app's mint", async () => {
    const { hostile, address } = await followed();
    const [from, to] = [Wallet.createRandom().address, Wallet.createRandom().address];
    for (let first = 0; first < 20_000; first += LOGS_AT_ONCE)
      await (await hostile.spam(from, to, first, LOGS_AT_ONCE)).wait();
    expect(await otherAppMints()).to.be.below(PROMPT);
    expect(await quarantined(address)).to.include({ reason: "flood" });
    const kept = moneta.service.database.read.selectFrom("transfers").selectAll().where("contract", "=", address);
    expect(await kept.execute()).to.deep.equal([]);
  });

  describe("given a contract that lies", () => {
    it("lists what the contract says, not what its events say", async () => {
      const { hostile, address, wallet } = await followed();
      await (await hostile.spam(outsider.address, wallet, 1, 2)).wait();
      await (await hostile.claim(2, wallet)).wait();
      // Event 1 names a token that the contract denies; token 3 was moved without any event.
      await (await hostile.claim(3, wallet)).wait();
      await (await hostile.spam(wallet, outsider.address, 2, 1)).wait();
      const listed = async () =>
        (await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}`)).nfts.map((nft) => nft.token_id);
      await eventually(async () => ((await listed()).join() === "2" ? true : undefined));
      // A token that is named is read, although no event told of it.
      await eventually(async () => {
        const page = await api.ok<Shape<"ContractNftsPage">>("GET", `/v1/accounts/${wallet}/${address}/3`);
        return page.total === 1 ? true : undefined;
      });
    });

    it("cannot put tokens or history into the wallets of an app that does not follow it", async () => {
      const { hostile, address } = await followed();
      await (await hostile.claim(1, theirs)).wait();
      const history = () => other.ok<{ total: number }>("GET", `/v1/accounts/${theirs}/history`);
      const { total } = await history();
      await (await hostile.spam(outsider.address, theirs, 1, 1)).wait();
      await otherAppMints();
      expect((await history()).total).to.equal(total + 1);
      const { nfts } = await other.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${theirs}`);
      expect(nfts.filter((nft) => nft.contract_address === address)).to.deep.equal([]);
    });
  });

  it("given 1,200 transfers to a wallet of tokens that it does not hold: reads the chain once, in the background", async () => {
    const hostile = await (await new HostileERC721__factory(outsider).deploy()).waitForDeployment();
    const [address, wallet] = [await hostile.getAddress(), await api.wallet()];
    await (await hostile.spam(outsider.address, wallet, 1, 1_200)).wait();
    // The indexer passes these blocks before the app follows the contract. So only the search can find the tokens.
    await otherAppMints();
    // The contracts of the tests before are still tried again now and then.
    moneta.intercept = ({ method, params }) => {
      const [call] = params as { to: string; data: string }[];
      if (method === "eth_call" && call?.to.toLowerCase() === address.toLowerCase()) asked.push(call.data);
      return undefined;
    };
    const page = await readContract(api, wallet, address, await head());
    expect(page.total).to.equal(0);
    // The newest 1,000 tokens, and no other one. A busy machine answers some of the calls too late, and they are repeated.
    const tokens = asked.filter((data) => data.startsWith(ERC721.getFunction("ownerOf").selector));
    const newest = Array.from({ length: 1_000 }, (_, index) => ERC721.encodeFunctionData("ownerOf", [1_200 - index]));
    expect([...new Set(tokens)].sort()).to.deep.equal(newest.sort());
    expect(asked.length - tokens.length).to.be.below(tokens.length / 10 + 50);
    asked.length = 0;
    // Each of these would cost as many calls.
    for (let count = 0; count < 50; count++) await readContract(api, wallet, address);
    expect(asked).to.deep.equal([]);
  });

  it("given an address without a token contract: is refused once it is known, and takes no place of the quota", async () => {
    const [wallet, nobody] = [await api.wallet(), Wallet.createRandom().address];
    await eventually(async () => {
      const refused = await api.refusal("GET", `/v1/accounts/${wallet}/${nobody}`);
      return refused === "422 contract_not_supported" ? true : undefined;
    });
    expect(await stateOf(nobody)).to.equal(undefined);
  });

  it("given that the app ends to follow a contract: removes its tokens from the lists, until it is named again", async () => {
    const wallet = await api.wallet();
    const { contract: plain, address } = await new Foreign(moneta).plain(wallet, 1);
    const held = () => api.ok("GET", `/v1/accounts/${wallet}`);
    expect(await readContract(api, wallet, address, await head())).to.include({ total: 1 });
    const path = `/v1/contracts/${address}`;
    expect((await other.send("DELETE", path)).status).to.equal(404);
    expect((await api.send("DELETE", path)).status).to.equal(200);
    expect((await api.send("DELETE", path)).status).to.equal(404);
    expect(await held()).to.include({ total: 0 });
    await (await plain.mint(wallet, 2)).wait();
    await otherAppMints();
    expect(await held()).to.include({ total: 0 });
    expect(await readContract(api, wallet, address, await head())).to.include({ total: 2 });
  });
});
