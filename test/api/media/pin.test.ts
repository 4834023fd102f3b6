import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { expect } from "chai";
import * as dagPb from "@ipld/dag-pb";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

import { BlockFiles } from "../../../api/ipfs/block-files.ts";
import { importContent } from "../../../api/ipfs/content.ts";
import { pinAtKubo } from "../../../api/media/pin.ts";
import { temporaryFolder } from "../../support/service.ts";

describe("pinAtKubo", () => {
  let server: Server;
  let rpc: string;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let blocks: BlockFiles;
  let failing: boolean;
  const stored = new Map<string, number>();
  const pinned: string[] = [];

  before(async () => {
    // What Kubo's RPC does: blocks come as multipart forms, and a pin needs all of them.
    server = createServer((request, response) => {
      void (async () => {
        const url = new URL(request.url ?? "", "http://kubo");
        const parts: Uint8Array[] = [];
        for await (const part of request) parts.push(part as Uint8Array);
        if (failing || request.method !== "POST") return response.writeHead(500).end("{}");
        if (url.pathname === "/api/v0/pin/add") {
          pinned.push(url.searchParams.get("arg") ?? "");
          return response.end(JSON.stringify({ Pins: pinned }));
        }
        const form = Buffer.concat(parts);
        const boundary = `\r\n--${/boundary=(.*)$/.exec(request.headers["content-type"] ?? "")?.[1] ?? ""}--`;
        const bytes = form.subarray(form.indexOf("\r\n\r\n") + 4, form.lastIndexOf(boundary));
        const code = url.searchParams.get("cid-codec") === "raw" ? raw.code : dagPb.code;
        const key = CID.createV1(code, await sha256.digest(bytes)).toString();
        stored.set(key, bytes.length);
        return response.end(JSON.stringify({ Key: key, Size: bytes.length }));
      })();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    rpc = `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}`;
    folder = await temporaryFolder();
    blocks = new BlockFiles(folder.path);
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await folder.remove();
  });

  it("hands over every block under its own name, then has the whole pinned", async () => {
    failing = false;
    const content = async function* () {
      await Promise.resolve();
      yield Buffer.alloc(2_500_000, "cat");
    };
    const { cid } = await importContent(blocks, content());
    await pinAtKubo(rpc, blocks, cid.toString(), new AbortController().signal);
    expect([...stored.keys()]).to.include(cid.toString());
    expect([...stored.values()].reduce((sum, size) => sum + size, 0)).to.be.greaterThan(2_500_000);
    expect(stored.size).to.equal(4);
    expect(pinned).to.deep.equal([cid.toString()]);
    failing = true;
    const error = await pinAtKubo(rpc, blocks, cid.toString(), new AbortController().signal).then(
      () => "pinned",
      String,
    );
    expect(error).to.contain("answered 500");
  });
});
