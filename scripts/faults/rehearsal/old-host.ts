import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The server of the host that closes: metadata and pictures of tokens. */
export class OldHost {
  /** How many of each it has served. */
  readonly served = { metadata: 0, pictures: 0 };
  /** It stays the same when the server is closed. */
  url = "";
  readonly #server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", this.url);
    const [, kind = "", file = ""] = /^\/(\w+)\/(?:0x)?([0-9a-f]+)/.exec(pathname) ?? [];
    if (file === "") response.writeHead(404).end();
    else if (kind === "pictures") {
      this.served.pictures += 1;
      response.setHeader("Content-Type", "image/svg+xml").end(pictureOf(file));
    } else {
      this.served.metadata += 1;
      const id = kind === "1155" ? BigInt(`0x${file}`).toString() : file;
      response.setHeader("Content-Type", "application/json").end(this.metadataOf(id));
    }
  });

  /** @param image where the picture is; by default here. */
  metadataOf(id: string, image = `${this.url}/pictures/${id}.svg`): string {
    return JSON.stringify({ name: `Token ${id}`, image, house: "the old host" });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}`;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** A picture, which differs for each token. */
export function pictureOf(id: string): string {
  const colour = (Number(BigInt(id) % 0xff_ff_ffn) * 7_919) % 0xff_ff_ff;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#${colour.toString(16).padStart(6, "0")}"/></svg>`;
}
