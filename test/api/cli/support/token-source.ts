import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { type Listening, listenOnLoopback } from "../../../../scripts/scene/loopback.ts";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** The server that has the metadata and pictures of a collection, until it is switched off. */
export class TokenSource {
  /** Bodies by path. What is missing is answered with 404. */
  readonly files = new Map<string, string | Uint8Array | Answer>();
  readonly asked: string[] = [];
  /** Called with each request before it is answered. */
  onRequest: (path: string) => void = () => undefined;
  readonly #server: Server;
  #listening: Listening | null = null;

  constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? "";
      this.asked.push(path);
      this.onRequest(path);
      const file = this.files.get(path);
      if (typeof file === "function") file(response, request);
      else if (file === undefined) response.writeHead(404).end();
      else response.end(file);
    });
  }

  get url(): string {
    return this.#listening?.url ?? "";
  }

  async start(): Promise<void> {
    this.#listening = await listenOnLoopback(this.#server);
  }

  async stop(): Promise<void> {
    await this.#listening?.stop();
    this.#listening = null;
  }
}
