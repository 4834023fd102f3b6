import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { TEST_ENGINE } from "../../support/engine.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";

/**
 * When the process is killed, in milliseconds after the last mint was accepted: before, while and after it is sent. On
 * PostgreSQL, the campaign also kills processes, at each of their steps.
 */
const MOMENTS = TEST_ENGINE === "sqlite" ? [0, 40, 120, 300] : [120];

describe("a process that is killed", () => {
  // Processes, because they are killed. The next one waits for the leases of the killed one.
  const moneta = useService({ start: false, settings: { LEASE_SECONDS: "4" } });
  const { api } = moneta;
  let process: TestProcess;
  let collection: string;
  let to: string;

  beforeEach(async () => {
    process = await moneta.startProcess();
    to = await api.wallet();
    collection = await api.collection({ type: "ERC721" });
  });
  afterEach(async () => {
    expect(await process.end("SIGTERM")).to.equal(0);
  });

  const contract = () => ERC721Collection__factory.connect(collection, moneta.provider);
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

  /** Starts a process that is killed at a point of a call, makes the call, and starts the next one. @returns what the call threw. */
  async function crashAt(point: string, call: () => Promise<unknown>, checkWhileGone = () => Promise.resolve()) {
    expect(await process.end("SIGTERM")).to.equal(0);
    const killed = await moneta.startProcess({ CRASH_POINT: point });
    const thrown: unknown = await call().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(await killed.gone()).to.equal("SIGKILL");
    await checkWhileGone();
    process = await moneta.startProcess();
    return thrown;
  }

  /** Expects that the batch was accepted once, and completes. */
  async function expectCompleted({ results }: Shape<"BatchResults">, count: number): Promise<void> {
    const ids = results.flatMap((result) => ("request_id" in result ? result.request_id : []));
    expect(new Set(ids).size).to.equal(count);
    const requests = await Promise.all(ids.map((id) => api.settled(id)));
    expect(requests.map((request) => request.status)).to.deep.equal(Array(count).fill("completed"));
  }

  for (const moment of MOMENTS) {
    it(`during a burst of mints: all 100 complete, none twice (killed after ${moment.toString()} ms)`, async () => {
      const mint = { collection_address: collection, to_address: to };
      const ids = await Promise.all(numbers(100).map(() => api.accept("/v1/nfts", mint)));
      await new Promise((resolve) => setTimeout(resolve, moment));
      expect(await process.end("SIGKILL")).to.equal("SIGKILL");

      process = await moneta.startProcess();
      const requests = await Promise.all(ids.map((id) => api.settled(id)));
      expect(requests.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
      const tokenIds = requests.map((request) => Number(request.nft_token_id)).sort((a, b) => a - b);
      expect(tokenIds).to.deep.equal(numbers(100));
      expect(await contract().totalMinted()).to.equal(100n);
      expect(await contract().balanceOf(to)).to.equal(100n);
    });
  }

  it("after it stored a batch and before it sends it: the token is minted once", async () => {
    const body = { collection_address: collection, to_address: to };
    const mint = () => api.send<Shape<"Accepted">>("POST", "/v1/nfts", body, { "idempotency-key": "one" });
    // The process may die before it has answered.
    const thrown = await crashAt("relayer:committed", mint, async () => {
      expect(await contract().totalMinted()).to.equal(0n);
    });
    if (thrown !== null) expect(thrown).to.be.instanceOf(TypeError);
    expect((await api.settled((await mint()).body.request_id)).status).to.equal("completed");
    expect(await contract().totalMinted()).to.equal(1n);
    expect(await contract().ownerOf(1)).to.equal(to);
  });

  it("before it commits a batch to a new user: it leaves no wallet, and the repeated batch creates one with its requests", async () => {
    const items = numbers(10).map(() => ({ collection_address: collection, to_user: "ana" }));
    const mint = () =>
      api.send<Shape<"BatchResults">>("POST", "/v1/nfts/batch", { items }, { "idempotency-key": "to-ana" });
    expect(await crashAt("request:written", mint)).to.be.instanceOf(TypeError);
    expect((await api.send("GET", "/v1/accounts/user/ana")).status).to.equal(404);
    await expectCompleted((await mint()).body, 10);
    const { address } = await api.ok<{ address: string }>("GET", "/v1/accounts/user/ana");
    expect(await contract().balanceOf(address)).to.equal(10n);
  });

  it("right after it committed a batch: the repeated batch gets the requests of the first one, and none is minted twice", async () => {
    const items = numbers(100).map(() => ({ collection_address: collection, to_address: to }));
    const mint = () =>
      api.send<Shape<"BatchResults">>("POST", "/v1/nfts/batch", { items }, { "idempotency-key": "the-batch" });
    expect(await crashAt("request:committed", mint)).to.be.instanceOf(TypeError);
    await expectCompleted((await mint()).body, 100);
    expect(await contract().totalMinted()).to.equal(100n);
  });
});
