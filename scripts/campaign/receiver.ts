import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** Receives the webhooks and records the final events of each request. */
export class Receiver {
  readonly #server: Server;
  /** Final events by request. An event that is delivered repeatedly counts once. */
  readonly finals = new Map<string, Set<string>>();

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        const event = JSON.parse(body) as { id: string; type: string; request_id: string };
        // A `corrected` event may follow a final one when a reorganisation was deeper than the confirmations.
        if (event.type === "completed" || event.type === "error") {
          const known = this.finals.get(event.request_id) ?? new Set();
          this.finals.set(event.request_id, known.add(`${event.type} ${event.id}`));
        }
        response.end();
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}/`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
