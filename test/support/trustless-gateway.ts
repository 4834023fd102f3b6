import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { CID } from "multiformats/cid";

/** A fake IPFS gateway that supports `?format=raw`. It has only the blocks that a test gives it. */
export class TrustlessGateway {
  /** Blocks by CID (version 1, as text). Missing ones are answered with 404. */
  readonly blocks = new Map<string, Uint8Array>();
  /** While set, this answers instead of the block. */
  instead: ((response: ServerResponse, cid: string) => void) | null = null;
  readonly asked: string[] = [];
  readonly #server: Server;

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
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}`;
  }

  /** Adds a block. Versions 0 and 1 of its CID find it. */
  add(cid: CID, bytes: Uint8Array): void {
    this.blocks.set(cid.toV1().toString(), bytes);
    this.blocks.set(cid.toString(), bytes);
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
