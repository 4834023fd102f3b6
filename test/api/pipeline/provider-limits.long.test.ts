import { expect } from "chai";

import { LimitedProvider, type ProviderLimits } from "../../../scripts/scene/limited-provider.ts";
import { eventually } from "../../support/eventually.ts";
import type { Tuned } from "../../support/service.ts";
import { useService } from "../../support/use-service.ts";

/** Blocks of the outage. */
const OUTAGE = 300;
const COLLECTIONS = 4;

describe("a provider that limits log queries", () => {
  // Each test stops the service, lets blocks pass, and counts what it reads of the chain afterwards.
  const moneta = useService({ start: false, per: "test" });
  const { api } = moneta;
  let provider: LimitedProvider;

  afterEach(() => provider.stop());

  /** The service behind the limits; then an outage in which requests are mined that it did not see. */
  async function missBlocks(limits: ProviderLimits, outage = OUTAGE): Promise<{ wallet: string; ids: string[] }> {
    provider = await LimitedProvider.start(moneta.node.url, limits);
    await moneta.start({ RPC_URL: moneta.node.url });
    const wallet = await api.wallet();
    const collections: string[] = [];
    for (let count = 0; count < COLLECTIONS; count++) collections.push(await api.collection({ type: "ERC721" }));
    const [collection = ""] = collections;
    await moneta.restart({ RPC_URL: moneta.node.url, ROLES: "api,relayer" });
    const ids = [];
    for (let count = 0; count < 4; count++) {
      ids.push(await api.accept("/v1/nfts", { collection_address: collection, to_address: wallet }));
      // One block for each mint.
      await eventually(async () => {
        const { requests } = await api.ok<{ requests: object[] }>("GET", "/v1/requests?status=pending");
        return requests.length === 0 ? true : undefined;
      });
    }
    await moneta.stop();
    for (let block = 0; block < outage; block++) await moneta.provider.send("evm_mine", []);
    return { wallet, ids };
  }

  async function expectAllMints({ wallet, ids }: { wallet: string; ids: string[] }): Promise<void> {
    await moneta.caughtUp();
    for (const id of ids) expect((await api.settled(id)).status).to.equal("completed");
    expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${wallet}`)).total).to.equal(ids.length);
  }

  async function catchUp(limits: ProviderLimits, tuned: Tuned = {}): Promise<void> {
    const missed = await missBlocks(limits);
    await moneta.start({ RPC_URL: provider.url }, tuned);
    await expectAllMints(missed);
  }

  it("catches up 300 blocks with queries of 10 blocks and 2 addresses", async () => {
    await catchUp({ blocks: 10, addresses: 2 });
    expect(provider.refused.blocks).to.be.within(1, 20);
    expect(provider.refused.addresses).to.be.within(1, 20);
    expect(provider.answered.blocks).to.be.within(2, 10);
    expect(provider.answered.addresses).to.be.within(1, 2);
  });

  it("catches up although a query may find only 3 logs", async () => {
    await catchUp({ results: 3 });
    expect(provider.refused.results).to.be.greaterThan(0);
  });

  it("catches up within 12 calls in a batch", async () => {
    await catchUp({ blocks: 50, batch: 12 });
    expect(provider.refused.batch).to.be.greaterThan(0);
  });

  it("reads by topics alone above so many contracts, in the provider's ranges", async () => {
    await catchUp({ blocks: 10, addresses: 2 }, { logQueries: { blocks: 500, addresses: 500, topicsAbove: 1 } });
    expect(provider.refused.addresses).to.equal(0);
    expect(provider.refused.blocks).to.be.greaterThan(0);
  });

  // The headers of a range are more calls than that, so a slow machine meets the limit, too.
  it("catches up within 20 calls a second, and says that it waits for a rate limit", async () => {
    const missed = await missBlocks({ blocks: 50, callsPerSecond: 20 }, 100);
    await moneta.start({ RPC_URL: provider.url });
    await moneta.says("rate_limited", "chain");
    expect((await moneta.readyz()).status).to.equal(200);
    await expectAllMints(missed);
    expect(provider.refused.rate).to.be.greaterThan(0);
  });
});
