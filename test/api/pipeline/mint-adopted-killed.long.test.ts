import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { CrashPoint } from "../../../api/shared/crash-point.ts";
import type { Shape } from "../../../client/client.ts";
import { MintableERC721__factory } from "../../../types/ethers-contracts/factories/mocks/MintableERC721__factory.ts";
import type { MintableERC721 } from "../../../types/ethers-contracts/mocks/MintableERC721.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";
import { runAnswering } from "../cli/support/run.ts";
import { holdersOf, wrongTotals } from "../support/adopt.ts";
import { adopted, grantMinter, relayOf } from "../support/mint-adopted.ts";

/** As in the contract. */
const [NOTHING_ODD, MAKES_TWO] = [0, 2];
const MINTS = 3;
/** Takes no id: nothing but the service keeps a mint from being sent twice. */
const MINT = "mint({to:address})";

describe("mints into an adopted contract by processes that are killed", () => {
  // The service in this process answers calls. The processes that are killed send and read.
  const moneta = useService({ settings: { ROLES: "api", LEASE_SECONDS: "4" } });
  const { api } = moneta;
  let owner: JsonRpcSigner;
  let contract: MintableERC721;
  let [address, wallet] = ["", ""];
  let worker: TestProcess;

  const start = (settings = {}) => moneta.spawn({ ROLES: "relayer,indexer", PORT: "0", ...settings });
  const confirm = () => runAnswering(moneta.env, address, "collection", "minting", address, "--mint", MINT, "--allow");
  const stateOf = async () =>
    (await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`)).collection.adopted?.minting;

  before(async () => {
    owner = await moneta.provider.getSigner(3);
    contract = await new MintableERC721__factory(owner).deploy(owner.address);
    address = await contract.getAddress();
    worker = start();
    wallet = await api.wallet();
    await adopted(moneta, address);
    await grantMinter(contract, await relayOf(moneta));
    await confirm();
  });
  afterEach(async () => {
    await moneta.caughtUp();
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });
  after(() => worker.end("SIGTERM"));

  /** Mints while a process works that is killed at the point, and goes on with the next process. */
  async function mintsKilledAt(point: CrashPoint, count: number): Promise<Shape<"Request">[]> {
    await worker.end("SIGTERM");
    const killed = start({ CRASH_POINT: point });
    const items = Array.from({ length: count }, () => ({ collection_address: address, to_address: wallet }));
    const { results } = await api.ok<Shape<"BatchResults">>("POST", "/v1/nfts/batch", { items });
    expect(await killed.gone()).to.equal("SIGKILL");
    worker = start();
    return Promise.all(results.map((result) => api.settled("request_id" in result ? result.request_id : "")));
  }

  for (const point of [
    ...(["relayer:claimed", "relayer:signed", "relayer:committed", "relayer:broadcast", "relayer:sent"] as const),
    ...(["indexer:read", "indexer:stored"] as const),
  ])
    it(`each mints once, and gets the id of its token (killed at ${point})`, async () => {
      const before = await contract.balanceOf(wallet);
      const requests = await mintsKilledAt(point, MINTS);
      expect(requests.map(({ status }) => status)).to.deep.equal(Array(MINTS).fill("completed"));
      expect(await contract.balanceOf(wallet)).to.equal(before + BigInt(MINTS));
      const ids = requests.map((request) => String(request.nft_token_id));
      expect(new Set(ids).size).to.equal(MINTS);
      for (const id of ids) expect(await contract.ownerOf(id)).to.equal(wallet);
      await moneta.caughtUp();
      expect(await holdersOf(moneta, address)).to.have.length(Number(await contract.balanceOf(wallet)));
      expect((await stateOf())?.stopped).to.equal(null);
    });

  for (const point of ["relayer:sent", "indexer:read", "indexer:stored"] as const)
    it(`a mint that makes two tokens stops minting, and is not sent again (killed at ${point})`, async () => {
      await (await contract.setOdd(MAKES_TWO)).wait();
      await moneta.caughtUp();
      const before = await contract.balanceOf(wallet);
      const [request] = await mintsKilledAt(point, 1);
      expect([request?.status, request?.nft_token_id]).to.deep.equal(["completed", null]);
      expect((await stateOf())?.stopped).to.contain(request?.request_id);
      await moneta.caughtUp();
      expect(await contract.balanceOf(wallet)).to.equal(before + 2n);
      await (await contract.setOdd(NOTHING_ODD)).wait();
      await confirm();
    });

  it("a contract with a new owner is found again", async () => {
    await (await contract.transferOwnership((await moneta.provider.getSigner(4)).address)).wait();
    await moneta.caughtUp();
    const before = await contract.balanceOf(wallet);
    const [request] = await mintsKilledAt("relayer:claimed", 1);
    expect([request?.status, request?.error_code]).to.deep.equal(["failed", "service_cannot_mint"]);
    expect((await stateOf())?.stopped).to.contain("new owner");
    expect(await contract.balanceOf(wallet)).to.equal(before);
  });
});
