import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { type Listening, listenOnLoopback } from "../../../../scripts/scene/loopback.ts";

export interface Asked {
  method: string;
  url: URL;
  body: string;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
}

/**
 * Answers as Sourcify (API v2) and Etherscan (API V2) answer about minimal proxies, by their documents. A test may replace the answers.
 */
export class VerifierServer {
  asked: Asked[] = [];
  /** Replaces an answer; null: the usual one. "hang": it never comes. */
  intercept: (asked: Asked) => Answer | "hang" | null = () => null;
  /** Contracts whose sources it has. */
  readonly sources = new Map<string, "match" | "exact_match">();
  /** Looks for a result of Etherscan that come too early. */
  slow = 0;
  readonly #server: Server;
  #listening: Listening | null = null;
  #looks = 0;
  /** What Etherscan was asked to find last. */
  #proxy = { address: "", expected: "" };

  constructor() {
    this.#server = createServer((request, response) => {
      this.#receive(request, response).catch(() => response.destroy());
    });
  }

  async open(): Promise<void> {
    this.#listening = await listenOnLoopback(this.#server);
  }

  async close(): Promise<void> {
    await this.#listening?.stop();
  }

  get url(): string {
    if (this.#listening === null) throw new Error("the server does not listen yet");
    return this.#listening.url;
  }

  /** What was asked, without ids and keys. */
  get calls(): string[] {
    return this.asked.map(
      ({ method, url }) =>
        `${method} ${url.pathname}${url.search === "" ? "" : `?${url.searchParams.get("action") ?? ""}`}`,
    );
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://verifier");
    const asked = { method: request.method ?? "", url, body: await text(request) };
    this.asked.push(asked);
    const answer = this.intercept(asked) ?? this.#answer(asked);
    if (answer === "hang") return;
    const { status = 200, headers = {}, body } = answer;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }

  #answer(asked: Asked): Answer {
    const { pathname, searchParams } = asked.url;
    if (pathname.endsWith("/api")) return this.#etherscan(searchParams.get("action") ?? "", asked);
    return this.#contract(pathname.split("/").at(-1) ?? "");
  }

  /** `GET /v2/contract/{chainId}/{address}` */
  #contract(address: string): Answer {
    const match = this.sources.get(address) ?? null;
    const body = { match, creationMatch: match, runtimeMatch: match, chainId: "31337", address };
    return { status: match === null ? 404 : 200, body };
  }

  #etherscan(action: string, { body }: Asked): Answer {
    const said = (status: "0" | "1", result: string): Answer => ({
      body: { status, message: status === "1" ? "OK" : "NOTOK", result },
    });
    if (action === "verifyproxycontract") {
      const form = new URLSearchParams(body);
      this.#looks = 0;
      this.#proxy = { address: form.get("address") ?? "", expected: form.get("expectedimplementation") ?? "" };
      return said("1", "gwgrrnfy56zf6vc1fljuejwg6pelnc5yns6fg6y2i6zfpgzquz");
    }
    if (++this.#looks <= this.slow) return said("0", "Pending in queue");
    const { address, expected } = this.#proxy;
    if (!this.sources.has(expected))
      return said("0", "A corresponding implementation contract was unfortunately not detected for the proxy address.");
    const found = `implementation contract is found at ${expected.toLowerCase()} and is successfully updated.`;
    return said("1", `The proxy's (${address.toLowerCase()}) ${found}`);
  }
}
