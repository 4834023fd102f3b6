import { expect } from "chai";

import { ERC721Collection__factory } from "../../../types/ethers-contracts/index.js";
import { ApiClient } from "../../support/api-client.ts";
import { freePort } from "../../../scripts/nodes/free-port.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { TestProcess } from "../../support/process.ts";
import { createAppIn, temporaryFolder } from "../../support/service.ts";

/** When the process is killed, in milliseconds after the last mint was accepted: before, while and after it is sent. */
const MOMENTS = [0, 40, 120, 300];

describe("kill -9 in the middle of a burst", function () {
  this.timeout(120_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Record<string, string>;
  let baseUrl: string;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
    const port = await freePort();
    env = { PORT: port.toString(), RPC_URL: node.url, DATA_DIR: folder.path };
    baseUrl = `http://127.0.0.1:${port.toString()}`;
  });
  after(async () => {
    await node.stop();
    await folder.remove();
  });

  async function startApi(): Promise<TestProcess> {
    const api = new TestProcess(["--import", "tsx", "api/main.ts"], env);
    await api.printed(/"msg":"serving"/);
    return api;
  }

  for (const moment of MOMENTS) {
    it(`completes all 100 mints, none twice (killed after ${moment.toString()} ms)`, async () => {
      const first = await startApi();
      const { token } = await createAppIn(`file:${folder.path}/moneta.sqlite`, `crash ${moment.toString()}`);
      const api = new ApiClient(baseUrl, token);
      const to = await api.wallet();
      const collection = await api.collection({ type: "ERC721" });
      const ids = await Promise.all(
        Array.from({ length: 100 }, () => api.accept("/v1/nfts", { collection_address: collection, to_address: to })),
      );
      await new Promise((resolve) => setTimeout(resolve, moment));
      expect(await first.end("SIGKILL")).to.equal("SIGKILL");

      const second = await startApi();
      const requests = await Promise.all(ids.map((id) => api.settled(id)));
      expect(requests.map((request) => request.status)).to.deep.equal(Array(100).fill("completed"));
      const tokenIds = requests.map((request) => Number(request.nft_token_id)).sort((a, b) => a - b);
      expect(tokenIds).to.deep.equal(Array.from({ length: 100 }, (_, index) => index + 1));
      const contract = ERC721Collection__factory.connect(collection, node.provider);
      expect(await contract.totalMinted()).to.equal(100n);
      expect(await contract.balanceOf(to)).to.equal(100n);
      expect(await second.end("SIGTERM")).to.equal(0);
    });
  }
});
