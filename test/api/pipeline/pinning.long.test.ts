import { expect } from "chai";

import type { Examination } from "../../../api/checks/examine.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeKubo } from "../../support/kubo.ts";
import { mintImage } from "../../support/mint-image.ts";
import { useService } from "../../support/use-service.ts";
import { runCli } from "../cli/support/run.ts";

describe("pinning at a Kubo node", () => {
  // Each test has a Kubo node of its own, and a service that has pinned nothing.
  const moneta = useService({ per: "test", start: false });
  const { api } = moneta;
  let kubo: FakeKubo;

  beforeEach(async () => {
    kubo = new FakeKubo();
    await kubo.start();
  });
  afterEach(() => kubo.stop());

  const pinning = () => ({ IPFS_PIN_RPC: kubo.rpc });
  const pinned = (cid: string) => eventually(() => Promise.resolve(kubo.pins.has(cid) ? true : undefined));
  /** The doctor's finding about pins. */
  const said = async () => {
    const { output } = await runCli({ ...moneta.env, ...pinning() }, "doctor", "--json");
    const { findings } = JSON.parse(output) as Examination;
    return findings.filter(({ check }) => check === "pins").map(({ result, words }) => `${result}: ${words}`)[0];
  };
  const mint = (collection: string, picture: string) => mintImage(api, collection, `data:,GIF89a${picture}`);
  /** @returns the directory's CID. */
  const freeze = async (collection: string): Promise<string> => {
    await api.completed(`/v1/collections/${collection}/freeze`, {});
    const { token_uri: uri } = await api.ok<{ token_uri: string }>("GET", `/v1/collections/${collection}/1`);
    return uri.split("/")[2] ?? "";
  };

  it("pins everything that is hosted, also what was hosted before the node was configured", async () => {
    await moneta.start();
    const collection = await api.collection({ type: "ERC721" });
    const pictures = [await mint(collection, "cat")];
    await moneta.restart(pinning());
    pictures.push(await mint(collection, "dog"));
    const all = [...pictures, await freeze(collection)];
    for (const cid of all) await pinned(cid);
    expect([...kubo.pins].sort()).to.deep.equal(all.sort());
    await eventually(async () =>
      (await said())?.startsWith("ok: the IPFS node has pinned all hosted files") ? true : undefined,
    );
  });

  for (const [trouble, problem] of [
    ["error", "the IPFS node answered 500: datastore: no space left"],
    ["garbage", "the server at IPFS_PIN_RPC does not answer like Kubo"],
    ["down", "connection failed (ECONNREFUSED)"],
  ] as const) {
    it(`delays no request while the Kubo node is ${trouble}, and catches up afterwards`, async () => {
      if (trouble === "down") await kubo.stop();
      else kubo.mood = trouble;
      await moneta.start(pinning());
      const collection = await api.collection({ type: "ERC721" });
      const picture = await mint(collection, "cat");
      const directory = await freeze(collection);
      expect((await fetch(`${moneta.baseUrl}/ipfs/${picture}`)).status).to.equal(200);
      await eventually(async () => ((await said())?.includes(problem) ? true : undefined));
      expect(await said()).to.match(/^warning: \d files? (is|are) waiting/);
      expect(kubo.pins.size).to.equal(0);
      if (trouble === "down") await kubo.start();
      kubo.mood = "well";
      for (const cid of [picture, directory]) await pinned(cid);
    });
  }

  it("delays no request while the Kubo node hangs, and continues after the process is killed", async () => {
    kubo.mood = "hanging";
    const first = await moneta.startProcess(pinning());
    const collection = await api.collection({ type: "ERC721" });
    const picture = await mint(collection, "cat");
    const directory = await freeze(collection);
    await eventually(() => Promise.resolve(kubo.asked.length > 0 ? true : undefined));
    expect(await first.end("SIGKILL")).to.equal("SIGKILL");
    kubo.mood = "well";
    const second = await moneta.startProcess(pinning());
    for (const cid of [picture, directory]) await pinned(cid);
    expect(await second.end("SIGTERM")).to.equal(0);
  });

  it("removes the pins of content that `media collect` removes, also when the node is down at first", async () => {
    // The other stores keep new blocks for five minutes.
    const settings = { ...pinning(), MEDIA_STORE: "files" };
    await moneta.start(settings);
    const collection = await api.collection({ type: "ERC721" });
    const [kept, removed] = [await mint(collection, "cat"), await mint(collection, "dog")];
    for (const cid of [kept, removed]) await pinned(cid);
    const path = `/v1/collections/${collection}/2`;
    await api.settled((await api.send<{ request_id: string }>("PATCH", path, { image: null })).body.request_id);
    await kubo.stop();
    await runCli({ ...moneta.env, ...settings }, "media", "collect", "--older-than", "0");
    await eventually(async () => ((await said())?.includes("connection failed") ? true : undefined));
    await kubo.start();
    await eventually(() => Promise.resolve(kubo.pins.has(removed) ? undefined : true));
    expect([...kubo.pins]).to.deep.equal([kept]);
    // The same content is hosted again.
    expect(await mint(collection, "dog")).to.equal(removed);
    await pinned(removed);
  });
});
