import { createServer, type Server, type ServerResponse } from "node:http";

import type { CID } from "multiformats/cid";

import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";

/** A fake IPFS gateway that supports `?format=raw`. It has only the blocks that a test gives it. */
export class TrustlessGateway {
  /** Blocks by CID (version 1, as text). Missing ones are answered with 404. */
  readonly blocks = new Map<string, Uint8Array>();
  /** While set, this answers instead of the block. */
  instead: ((response: ServerResponse, cid: string) => void) | null = null;
  readonly asked: string[] = [];
  readonly #server: Server;
  #listening: Listening | null = null;

  constructor() {
    this.#server = createServer((request, response) => {
      this.asked.push(request.url ?? "");
      const [, cid = ""] = /^\/ipfs\/([A-Za-z0-9]+)\?format=raw$/.exec(request.url ?? "") ?? [];
      const bytes = this.blocks.get(cid);
      if (this.instead !== null) this.instead(response, cid);
      else if (bytes === undefined) response.writeHead(404).end();
      else response.writeHead(200, { "content-type": "application/vnd.ipld.raw" }).end(bytes);
    });
  }

  get url(): string {
    return this.#listening?.url ?? "";
  }

  /** Adds a block. Versions 0 and 1 of its CID find it. */
  add(cid: CID, bytes: Uint8Array): void {
    this.blocks.set(cid.toV1().toString(), bytes);
    this.blocks.set(cid.toString(), bytes);
  }

  async start(): Promise<void> {
    this.#listening = await listenOnLoopback(this.#server);
  }

  async stop(): Promise<void> {
    await this.#listening?.stop();
  }
}
