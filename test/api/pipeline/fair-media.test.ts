import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { expect } from "chai";

import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

const HOSTILE_APPS = 4;
const MINTS = 30;

describe("media of several apps", () => {
  // Longer than the test takes: no download may end by itself.
  const moneta = useService({ settings: { MEDIA_SECONDS: "600" } });
  let server: Server;
  let url: string;
  const hanging: ServerResponse[] = [];

  before(async () => {
    server = createServer((_request, response) => hanging.push(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}/cat.png`;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function mintFrom(api: ApiClient, image: string, count: number): Promise<string[]> {
    const collection = await api.collection({ type: "ERC721" });
    const fields = { collection_address: collection, to_address: await api.wallet(), image, copy_media: true };
    return Promise.all(Array.from({ length: count }, () => api.accept("/v1/nfts", fields)));
  }

  it("do not wait for the servers of other apps that hang", async () => {
    for (let index = 0; index < HOSTILE_APPS; index++)
      await mintFrom(await moneta.createApp(`hostile ${index.toString()}`), url, MINTS);
    // The hostile apps have all slots that they can get: 10 of the first, at least one of each.
    await eventually(() => Promise.resolve(hanging.length >= 10 + HOSTILE_APPS - 1 ? true : undefined));
    const [id] = await mintFrom(moneta.api, "data:image/svg+xml,<svg/>", 1);
    expect(await moneta.api.settled(id ?? "")).to.include({ status: "completed" });
    // None of the hostile downloads has ended, so the mint did not wait for one of them.
    expect(hanging.every((response) => !response.destroyed)).to.equal(true);
    expect(hanging.length).to.be.at.most(20);
  });
});
