import { createServer } from "node:http";

import { expect } from "chai";

import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { PNG } from "../../support/pictures.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";

/** The first crash, and three alone. */
const CRASHES = 4;

describe("media that kill the process", () => {
  const moneta = useService({ start: false, settings: { LEASE_SECONDS: "4" } });
  const { api } = moneta;
  let server: Listening;
  let process: TestProcess;
  /** Called when the media that kill are asked for. */
  let kill: () => void;
  /** Media that are being copied now, and how many at most beside those that kill, after the first crash. */
  let open = 0;
  const beside: number[] = [];

  before(async () => {
    const media = createServer((request, response) => {
      open += 1;
      response.on("close", () => (open -= 1));
      if (request.url !== "/bomb") response.end(PNG);
      else {
        beside.push(open - 1);
        kill();
      }
    });
    server = await listenOnLoopback(media);
    process = await moneta.startProcess();
  });
  afterEach(async () => {
    expect(await process.end("SIGTERM")).to.equal(0);
  });
  after(() => server.stop());

  it("do so four times: then their request fails, and those beside it complete", async () => {
    const collection = await api.collection({ type: "ERC721", mint_supply_count: 4 });
    const mint = { collection_address: collection, to_address: await api.wallet(), copy_media: true };
    const died = () => {
      const { promise, resolve } = Promise.withResolvers<null>();
      kill = () => {
        resolve(null);
      };
      return promise;
    };
    let dies = died();
    const bomb = await api.accept("/v1/nfts", { ...mint, image: `${server.url}/bomb` });
    const others = await Promise.all(
      [1, 2, 3].map((index) => api.accept("/v1/nfts", { ...mint, image: `${server.url}/${index.toString()}.png` })),
    );
    for (let crash = 1; crash <= CRASHES; crash++) {
      await dies;
      expect(await process.end("SIGKILL")).to.equal("SIGKILL");
      dies = died();
      process = await moneta.startProcess();
    }
    const failed = await api.settled(bomb);
    expect(failed).to.include({ status: "failed", error_code: "media_unavailable" });
    const settled = await Promise.all(others.map((id) => api.settled(id)));
    expect(settled.map(({ status }) => status)).to.deep.equal(["completed", "completed", "completed"]);
    expect(beside.slice(1)).to.deep.equal([0, 0, 0]);
    // The place in the collection is free again.
    await api.completed("/v1/nfts", { ...mint, image: `${server.url}/4.png` });
  });
});
