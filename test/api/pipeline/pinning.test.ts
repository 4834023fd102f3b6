import { expect } from "chai";

import { createApp } from "../../../api/operator/create-app.ts";
import type { Examination } from "../../../api/doctor/examine.ts";
import { freePort } from "../../../scripts/nodes/free-port.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeKubo, type KuboMood } from "../../support/kubo.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { TestProcess } from "../../support/process.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { createAppIn, startTestService } from "../../support/service.ts";
import { runCli } from "../cli/support/run.ts";

describe("pinning at a Kubo node", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let kubo: FakeKubo;

  before(async () => {
    node = await startNode();
  });
  after(() => node.stop());
  beforeEach(async () => {
    folder = await temporaryFolder();
    kubo = new FakeKubo();
    await kubo.start();
  });
  afterEach(async () => {
    await kubo.stop();
    await folder.remove();
  });

  const start = (env: Record<string, string> = { IPFS_PIN_RPC: kubo.rpc }) =>
    startTestService({ rpcUrl: node.url, dataDir: folder.path, env });
  const startProcess = async (port: number) => {
    const env = { PORT: port.toString(), RPC_URL: node.url, DATA_DIR: folder.path, IPFS_PIN_RPC: kubo.rpc };
    const process = new TestProcess(["--import", "tsx", "api/main.ts"], env);
    await process.printed(/"msg":"serving"/);
    return process;
  };
  const pinned = (cid: string) => eventually(() => Promise.resolve(kubo.pins.has(cid) ? true : undefined));
  /** The doctor's finding about pins. */
  const said = async () => {
    const env = { PORT: "0", RPC_URL: node.url, DATA_DIR: folder.path, IPFS_PIN_RPC: kubo.rpc };
    const { findings } = JSON.parse((await runCli(env, "doctor", "--json")).output) as Examination;
    return findings.filter(({ check }) => check === "pins").map(({ result, words }) => `${result}: ${words}`)[0];
  };
  /** Mints with media that are copied. @returns the picture's CID. */
  const mint = async (api: ApiClient, collection: string, picture: string): Promise<string> => {
    const { nft_token_id: id } = await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: await api.wallet(),
      image: `data:,${picture}`,
      copy_media: true,
    });
    const metadata = await api.ok<{ image: string }>("GET", `/metadata/31337/${collection}/${String(id)}`);
    return metadata.image.replace("ipfs://", "");
  };
  /** @returns the directory's CID. */
  const freeze = async (api: ApiClient, collection: string): Promise<string> => {
    const request = await api.settled(await api.accept(`/v1/collections/${collection}/freeze`, {}));
    expect(request).to.include({ status: "completed" });
    const { token_uri: uri } = await api.ok<{ token_uri: string }>("GET", `/v1/collections/${collection}/1`);
    return uri.split("/")[2] ?? "";
  };

  it("pins everything that is hosted: copied media and frozen directories", async () => {
    const service = await start();
    try {
      const api = ApiClient.at(service.baseUrl, (await createApp(service, "pins")).token);
      const collection = await api.collection({ type: "ERC721" });
      const pictures = [await mint(api, collection, "cat"), await mint(api, collection, "dog")];
      const directory = await freeze(api, collection);
      for (const cid of [...pictures, directory]) await pinned(cid);
      expect([...kubo.pins].sort()).to.deep.equal([...pictures, directory].sort());
      await eventually(async () =>
        (await said())?.startsWith("ok: the IPFS node has pinned all hosted files") ? true : undefined,
      );
    } finally {
      await service.stop();
    }
  });

  for (const [trouble, problem] of [
    ["error", "the IPFS node answered 500: datastore: no space left"],
    ["garbage", "the server at IPFS_PIN_RPC does not answer like Kubo"],
    ["wrong", "the server at IPFS_PIN_RPC does not answer like Kubo"],
    ["endless", "the server at IPFS_PIN_RPC does not answer like Kubo"],
    ["hanging", null],
    ["down", "connection failed (ECONNREFUSED)"],
  ] as [KuboMood | "down", string | null][]) {
    it(`holds up nothing while the node is ${trouble}, and is made up for`, async () => {
      if (trouble === "down") await kubo.stop();
      else kubo.mood = trouble;
      const service = await start();
      try {
        const api = ApiClient.at(service.baseUrl, (await createApp(service, "pins")).token);
        const collection = await api.collection({ type: "ERC721" });
        const picture = await mint(api, collection, "cat");
        const directory = await freeze(api, collection);
        expect((await fetch(`${service.baseUrl}/ipfs/${picture}`)).status).to.equal(200);
        if (problem !== null) {
          await eventually(async () => ((await said())?.includes(problem) ? true : undefined));
          expect(await said()).to.match(/^warning: \d hosted files? (is|are) waiting/);
        }
        expect(kubo.pins.size).to.equal(0);
        if (trouble === "hanging") return;
        if (trouble === "down") await kubo.start();
        kubo.mood = "well";
        for (const cid of [picture, directory]) await pinned(cid);
      } finally {
        await service.stop();
      }
    });
  }

  it("continues after the process is killed", async () => {
    kubo.mood = "hanging";
    const port = await freePort();
    const first = await startProcess(port);
    const { token } = await createAppIn(`file:${folder.path}/moneta.sqlite`, "pins");
    const api = ApiClient.at(`http://127.0.0.1:${port.toString()}`, token);
    const collection = await api.collection({ type: "ERC721" });
    const picture = await mint(api, collection, "cat");
    const directory = await freeze(api, collection);
    await eventually(() => Promise.resolve(kubo.asked.length > 0 ? true : undefined));
    expect(await first.end("SIGKILL")).to.equal("SIGKILL");
    kubo.mood = "well";
    const second = await startProcess(port);
    for (const cid of [picture, directory]) await pinned(cid);
    expect(await second.end("SIGTERM")).to.equal(0);
  });

  it("includes files that were hosted before the node was configured", async () => {
    let service = await start({});
    const { token } = await createApp(service, "pins");
    const api = ApiClient.at(service.baseUrl, token);
    const picture = await mint(api, await api.collection({ type: "ERC721" }), "cat");
    await service.stop();
    service = await start();
    await pinned(picture).finally(() => service.stop());
  });
});
