import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A webhook call that arrived. */
export interface Delivered {
  path: string;
  /** The header `webhook-id`: the same at every try. */
  id: string;
  type: string;
  requestId: string | null;
}

/** What the apps have outside of Moneta, on one loopback port: webhook receivers (`/hook/...`) and media (`/media/...`). */
export class Outside {
  /** The calls that were answered with 204, in order. */
  readonly delivered: Delivered[] = [];
  /** Paths that answer 503. */
  readonly broken = new Set<string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async listen(): Promise<Outside> {
    const outside = new Outside();
    await new Promise<void>((resolve) => outside.#server.listen(0, "127.0.0.1", resolve));
    return outside;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const body = request.method === "POST" ? ((await json(request)) as { type: string; request_id?: string }) : null;
    if (this.broken.has(path)) {
      response.writeHead(503).end();
    } else if (body === null) {
      // The same path is the same content for ever.
      response.setHeader("content-type", "image/svg+xml").end(svg(path));
    } else {
      const { type, request_id: requestId = null } = body;
      this.delivered.push({ path, id: String(request.headers["webhook-id"]), type, requestId });
      response.writeHead(204).end();
    }
  }
}

/** A small picture that contains the name. */
export function svg(name: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg"><title>${name}</title></svg>`;
}
