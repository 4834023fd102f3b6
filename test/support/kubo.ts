import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import * as dagPb from "@ipld/dag-pb";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

/** How the node behaves: correctly, or in one of the ways in which nodes fail. */
export type KuboMood = "well" | "error" | "garbage" | "wrong" | "endless" | "hanging";

/** A fake of Kubo's RPC: it takes blocks as multipart forms, and pins content only when it has all its blocks. */
export class FakeKubo {
  mood: KuboMood = "well";
  /** Confirms pins without pinning. */
  pinsNothing = false;
  readonly blocks = new Map<string, Uint8Array>();
  readonly pins = new Set<string>();
  /** Paths of the calls, in order. */
  readonly asked: string[] = [];
  #server: Server | null = null;
  #port = 0;

  get rpc(): string {
    return `http://127.0.0.1:${this.#port.toString()}`;
  }

  /** A second start uses the same address again. */
  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => {
      if (server === null) resolve();
      else
        server.close(() => {
          resolve();
        });
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(request.url ?? "", "http://kubo");
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part as Uint8Array);
    this.asked.push(url.pathname);
    switch (this.mood) {
      case "hanging":
        return;
      case "error":
        return response.writeHead(500).end(JSON.stringify({ Message: "datastore: no space left", Code: 0 }));
      case "garbage":
        return response.end("<html>welcome to nginx</html>");
      case "wrong":
        return response.end("null");
      case "endless": {
        const more = () => {
          while (!response.destroyed && response.write(" ".repeat(65_536)));
        };
        response.on("drain", more);
        more();
        return;
      }
      case "well":
        break;
    }
    if (request.method !== "POST") return response.writeHead(405).end();
    if (url.pathname === "/api/v0/block/put") {
      const key = await this.#put(url, request.headers["content-type"] ?? "", Buffer.concat(parts));
      return response.end(JSON.stringify({ Key: key, Size: 1 }));
    }
    if (url.pathname === "/api/v0/pin/add") {
      const name = url.searchParams.get("arg") ?? "";
      const missing = this.#missing(CID.parse(name));
      if (missing !== null) {
        return response.writeHead(500).end(JSON.stringify({ Message: `block was not found locally: ${missing}` }));
      }
      if (this.pinsNothing) return response.end(JSON.stringify({ Pins: [] }));
      this.pins.add(name);
      return response.end(JSON.stringify({ Pins: [name] }));
    }
    if (url.pathname === "/api/v0/pin/rm") {
      const name = url.searchParams.get("arg") ?? "";
      if (this.pins.delete(name)) return response.end(JSON.stringify({ Pins: [name] }));
      return response.writeHead(500).end(JSON.stringify({ Message: "not pinned or pinned indirectly", Code: 0 }));
    }
    return response.writeHead(404).end();
  }

  async #put(url: URL, type: string, form: Buffer): Promise<string> {
    const boundary = `\r\n--${/boundary=(.*)$/.exec(type)?.[1] ?? ""}--`;
    const bytes = form.subarray(form.indexOf("\r\n\r\n") + 4, form.lastIndexOf(boundary));
    const code = url.searchParams.get("cid-codec") === "raw" ? raw.code : dagPb.code;
    const key = CID.createV1(code, await sha256.digest(bytes)).toString();
    this.blocks.set(key, bytes);
    return key;
  }

  /** A block of the content that the node lacks; null when it has all of them. */
  #missing(cid: CID): string | null {
    const bytes = this.blocks.get(cid.toV1().toString());
    if (bytes === undefined) return cid.toString();
    if (cid.code !== dagPb.code) return null;
    for (const link of dagPb.decode(bytes).Links) {
      const missing = this.#missing(link.Hash);
      if (missing !== null) return missing;
    }
    return null;
  }
}
