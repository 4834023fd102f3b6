import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

import { expect } from "chai";
import type { CID } from "multiformats/cid";

import { importContent } from "../../../api/content/content.ts";
import type { Shape } from "../../../client/client.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { TrustlessGateway } from "../../support/trustless-gateway.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "./support/run.ts";
import { picture } from "./support/use-drop.ts";

describe("command line: drop --copy-media", () => {
  // The service asks the gateway of the test.
  const moneta = useService({ start: false });
  const place = useFolder();
  const gateway = new TrustlessGateway();
  let host: Listening;
  before(async () => {
    await gateway.start();
    host = await listenOnLoopback(
      createServer((request, response) => {
        const number = Number(/^\/(\d+)\.svg$/.exec(request.url ?? "")?.[1]);
        response.setHeader("content-type", "image/svg+xml").end(picture(number));
      }),
    );
    await moneta.start({ IPFS_GATEWAY: gateway.url });
  });
  after(async () => {
    await host.stop();
    await gateway.stop();
  });

  async function published(text: string): Promise<CID> {
    const source = async function* () {
      await Promise.resolve();
      yield new TextEncoder().encode(text);
    };
    const put = (cid: CID, bytes: Uint8Array) => {
      gateway.add(cid, bytes);
      return Promise.resolve();
    };
    return (await importContent({ put }, source())).cid;
  }

  it("hosts what is at http and ipfs, beside the files of the folder, and serves it when the hosts are gone", async () => {
    const collection = await moneta.api.collection({ type: "ERC721" });
    const cid = await published(picture(2));
    const rows = ["name,token_id,image", `A,1,${host.url}/1.svg`, `B,2,ipfs://${cid.toString()}`, "C,3,", "D,4,4.svg"];
    await mkdir(join(place.path, "images"));
    for (const number of [3, 4]) await writeFile(join(place.path, `images/${number.toString()}.svg`), picture(number));
    await writeFile(join(place.path, "metadata.csv"), rows.join("\n"));
    const words = ["drop", place.path, "--collection", collection, "--url", moneta.baseUrl, "--user", "alice"];
    const drop = (...more: string[]) =>
      jsonOfCli<{ completed: number; notes: string[] }>({ MONETA_TOKEN: moneta.app.token }, ...words, ...more);
    expect((await drop()).notes.join())
      .to.contain("stay elsewhere")
      .and.to.contain("1 at ipfs");
    expect((await drop("--copy-media")).notes.join()).to.contain("The service copies 2 pictures and other files");
    expect(await drop("--copy-media", "--yes")).to.include({ completed: 4 });
    await host.stop();
    gateway.blocks.clear();
    const { nfts } = await moneta.api.ok<{ nfts: Shape<"Nft">[] }>("GET", `/v1/collections/${collection}`);
    const hosted = await Promise.all(
      nfts.map(async ({ metadata }) => {
        const path = /^ipfs:\/\/(.+)$/.exec(metadata?.image ?? "")?.[1] ?? "none";
        return [metadata?.name, await (await fetch(`${moneta.baseUrl}/ipfs/${path}`)).text()];
      }),
    );
    expect(Object.fromEntries(hosted)).to.deep.equal({
      A: picture(1),
      B: picture(2),
      C: picture(3),
      D: picture(4),
    });
  });
});
