import { expect } from "chai";
import { dataSlice, getAddress } from "ethers";

import { useService } from "../../support/use-service.ts";
import { runCli } from "../cli/support/run.ts";
import { type Answer, VerifierServer } from "../operate/deploy/verifier-server.ts";

const UNSUPPORTED = { customCode: "unsupported_chain", message: "The chain is not supported", errorId: "1" };

describe("contract verify", () => {
  const server = new VerifierServer();
  // The command asks about every collection of a service.
  const moneta = useService({ node: "empty" });
  const { api } = moneta;
  before(() => server.open());
  after(() => server.close());
  beforeEach(() => {
    [server.asked, server.slow, server.intercept] = [[], 0, () => null];
    server.sources.clear();
  });

  /** @param settings such as a key of Etherscan. Without it, only Sourcify is asked. */
  async function verify(settings: Record<string, string> = {}) {
    const urls = { SOURCIFY_URL: server.url, ETHERSCAN_URL: `${server.url}/v2/api` };
    const { output, remarks, failed } = await runCli(
      { ...moneta.env, ...urls, ...settings },
      "contract",
      "verify",
      "--json",
    );
    return { result: JSON.parse(output) as unknown, remarks, failed };
  }
  async function verifiedOf(address: string): Promise<string | null | undefined> {
    const path = "/v1/collections?limit=30";
    const { collections } = await api.ok<{ collections: { address: string; verified: string | null }[] }>("GET", path);
    return collections.find((one) => one.address === address)?.verified;
  }
  async function implementationOf(address: string): Promise<string> {
    return getAddress(dataSlice(await moneta.provider.getCode(address), 10, 30));
  }

  it("stores what Sourcify has, and asks again about what it does not have", async () => {
    const [single, copies] = [await api.collection({ type: "ERC721" }), await api.collection({ type: "ERC1155" })];
    expect([await verifiedOf(single), await verifiedOf(copies)]).to.deep.equal([null, null]);
    const [implementation, other] = [await implementationOf(single), await implementationOf(copies)];
    server.sources.set(implementation, "match");
    const first = await verify();
    expect(first.result).to.deep.equal({ due: 2, verified: 1, failed: 1 });
    expect(first.failed).to.equal(true);
    expect(first.remarks).to.contain(`Sourcify: ${copies} is not verified: it does not have the sources`);
    expect([await verifiedOf(single), await verifiedOf(copies)]).to.deep.equal(["implementation", "failed"]);
    server.sources.set(other, "match");
    server.asked = [];
    const second = await verify();
    expect([second.result, second.failed]).to.deep.equal([{ due: 1, verified: 1, failed: 0 }, false]);
    expect(server.calls).to.not.contain(`GET /v2/contract/31337/${single}`);
    expect(await verifiedOf(copies)).to.equal("implementation");
  });

  it("stores the best answer of all verifiers, also a match of the proxy itself", async () => {
    const address = await api.collection({ type: "ERC721" });
    server.sources.set(address, "exact_match");
    const { result, remarks } = await verify({ ETHERSCAN_API_KEY: "KEY" });
    expect(result).to.deep.equal({ due: 1, verified: 1, failed: 0 });
    expect(remarks).to.match(/Etherscan: 0x\w+ is not verified: A corresponding implementation contract was/);
    expect(await verifiedOf(address)).to.equal("exact");
  });

  it("asks Etherscan whether the collection is a proxy of its implementation", async () => {
    const address = await api.collection({ type: "ERC721" });
    const implementation = await implementationOf(address);
    server.sources.set(implementation, "match");
    server.slow = 1;
    server.intercept = ({ url }) => (url.pathname.startsWith("/v2/api") ? null : { body: UNSUPPORTED });
    await verify({ ETHERSCAN_API_KEY: "KEY" });
    expect(await verifiedOf(address)).to.equal("implementation");
    const sent = server.asked.find(({ url }) => url.searchParams.get("action") === "verifyproxycontract");
    expect(Object.fromEntries(new URLSearchParams(sent?.body))).to.deep.equal({
      address,
      expectedimplementation: implementation,
    });
  });

  describe("given an answer that says nothing about a collection", () => {
    const addresses: string[] = [];
    before(async () => {
      for (let made = 0; made < 5; made++) addresses.push(await api.collection({ type: "ERC721" }));
    });
    for (const [what, answer, words] of [
      ["an unknown chain", { status: 400, body: UNSUPPORTED }, "Sourcify does not know chain 31337"],
      ["something else than JSON", { body: "<html>" }, "Sourcify answers with status 200, and not as documented"],
      ["a redirect", { status: 302, body: { match: "match" } }, "Sourcify answers with status 302"],
      ["another document", { body: { hello: "world" } }, "Sourcify does not answer as documented."],
    ] as [string, Answer, string][]) {
      it(`stores nothing after ${what}, says so, and stops asking`, async () => {
        server.intercept = () => answer;
        const { result, remarks, failed } = await verify();
        expect([result, failed]).to.deep.equal([{ due: 5, verified: 0, failed: 0 }, true]);
        expect(remarks).to.contain(words);
        expect(remarks).to.not.contain(server.url);
        for (const address of addresses) expect(await verifiedOf(address)).to.equal(null);
        expect(server.calls.filter((call) => call.includes("/contract/"))).to.have.length(3);
      });
    }
  });
});
