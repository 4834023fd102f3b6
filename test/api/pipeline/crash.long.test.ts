import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { TEST_ENGINE } from "../../support/engine.ts";
import { useService } from "../../support/use-service.ts";

/**
 * When the process is killed, in milliseconds after the last mint was accepted: before, while and after it is sent. On
 * PostgreSQL, the campaign also kills processes, at each of their steps.
 */
const MOMENTS = TEST_ENGINE === "sqlite" ? [0, 40, 120, 300] : [120];

describe("a process that is killed during a burst of mints", () => {
  // Processes, because they are killed. The second one waits for the leases of the killed one.
  const moneta = useService({ start: false, settings: { LEASE_SECONDS: "4" } });
  const { api } = moneta;

  for (const moment of MOMENTS) {
    it(`completes all 100 mints, none twice (killed after ${moment.toString()} ms)`, async () => {
      const first = await moneta.startProcess();
      const to = await api.wallet();
      const collection = await api.collection({ type: "ERC721" });
      const ids = await Promise.all(
        Array.from({ length: 100 }, () => api.accept("/v1/nfts", { collection_address: collection, to_address: to })),
      );
      await new Promise((resolve) => setTimeout(resolve, moment));
      expect(await first.end("SIGKILL")).to.equal("SIGKILL");

      const second = await moneta.startProcess();
      const requests = await Promise.all(ids.map((id) => api.settled(id)));
      expect(requests.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
      const tokenIds = requests.map((request) => Number(request.nft_token_id)).sort((a, b) => a - b);
      expect(tokenIds).to.deep.equal(Array.from({ length: 100 }, (_, index) => index + 1));
      const contract = ERC721Collection__factory.connect(collection, moneta.provider);
      expect(await contract.totalMinted()).to.equal(100n);
      expect(await contract.balanceOf(to)).to.equal(100n);
      expect(await second.end("SIGTERM")).to.equal(0);
    });
  }
});

describe("a process that is killed after it stored a batch and before it sends it", () => {
  // As above.
  const moneta = useService({ start: false, settings: { LEASE_SECONDS: "4" } });
  const { api } = moneta;

  it("mints the token once", async () => {
    const first = await moneta.startProcess();
    const to = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    expect(await first.end("SIGTERM")).to.equal(0);
    const body = { collection_address: collection, to_address: to };
    const mint = () => api.send<Shape<"Accepted">>("POST", "/v1/nfts", body, { "idempotency-key": "one" });

    const second = await moneta.startProcess({ CRASH_POINT: "relayer:committed" });
    // The process may die before it has answered.
    await mint().catch((reason: unknown) => expect(reason).to.be.instanceOf(TypeError));
    expect(await second.gone()).to.equal("SIGKILL");
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    expect(await contract.totalMinted()).to.equal(0n);

    const third = await moneta.startProcess();
    expect((await api.settled((await mint()).body.request_id)).status).to.equal("completed");
    expect(await contract.totalMinted()).to.equal(1n);
    expect(await contract.ownerOf(1)).to.equal(to);
    expect(await third.end("SIGTERM")).to.equal(0);
  });
});

describe("a process that is killed before it commits a batch to a new user", () => {
  // As above.
  const moneta = useService({ start: false, settings: { LEASE_SECONDS: "4" } });
  const { api } = moneta;

  it("leaves no wallet, and the repeated batch creates one with its requests", async () => {
    const first = await moneta.startProcess();
    const collection = await api.collection({ type: "ERC721" });
    expect(await first.end("SIGTERM")).to.equal(0);
    const items = Array.from({ length: 10 }, () => ({ collection_address: collection, to_user: "ana" }));
    const mint = () =>
      api.send<Shape<"BatchResults">>("POST", "/v1/nfts/batch", { items }, { "idempotency-key": "to-ana" });

    const second = await moneta.startProcess({ CRASH_POINT: "request:written" });
    expect(await mint().catch((reason: unknown) => reason)).to.be.instanceOf(TypeError);
    expect(await second.gone()).to.equal("SIGKILL");

    const third = await moneta.startProcess();
    expect((await api.send("GET", "/v1/accounts/user/ana")).status).to.equal(404);
    const { results } = (await mint()).body;
    const ids = results.flatMap((result) => ("request_id" in result ? result.request_id : []));
    expect(new Set(ids).size).to.equal(10);
    const requests = await Promise.all(ids.map((id) => api.settled(id)));
    expect(requests.map((request) => request.status)).to.deep.equal(Array(10).fill("completed"));
    const { address } = await api.ok<{ address: string }>("GET", "/v1/accounts/user/ana");
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    expect(await contract.balanceOf(address)).to.equal(10n);
    expect(await third.end("SIGTERM")).to.equal(0);
  });
});

describe("a process that is killed right after it committed a batch", () => {
  // As above.
  const moneta = useService({ start: false, settings: { LEASE_SECONDS: "4" } });
  const { api } = moneta;

  it("answers the repeated batch with the requests of the first one, and mints none twice", async () => {
    const first = await moneta.startProcess();
    const to = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    expect(await first.end("SIGTERM")).to.equal(0);
    const items = Array.from({ length: 100 }, () => ({ collection_address: collection, to_address: to }));
    const mint = () =>
      api.send<Shape<"BatchResults">>("POST", "/v1/nfts/batch", { items }, { "idempotency-key": "the-batch" });

    const second = await moneta.startProcess({ CRASH_POINT: "request:committed" });
    const error: unknown = await mint().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(TypeError);
    expect(await second.gone()).to.equal("SIGKILL");

    const third = await moneta.startProcess();
    const { results } = (await mint()).body;
    const ids = results.flatMap((result) => ("request_id" in result ? result.request_id : []));
    expect(new Set(ids).size).to.equal(100);
    const requests = await Promise.all(ids.map((id) => api.settled(id)));
    expect(requests.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    expect(await contract.totalMinted()).to.equal(100n);
    expect(await third.end("SIGTERM")).to.equal(0);
  });
});
