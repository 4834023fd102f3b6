import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ReceivedCall {
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it arrived: the signature covers these bytes. */
  text: string;
  /** The parsed body. */
  body: Record<string, unknown>;
}

/** Milliseconds to wait for a call. It only ends a wait for a call that never comes. */
const PATIENCE = 240_000;

/** The webhook receiver of the tests and the campaign. It keeps every call, and verifies no signature. */
export class WebhookReceiver {
  readonly calls: ReceivedCall[] = [];
  /** Status of the answers, unless `respond` is replaced. */
  status = 204;
  /** Answers one call, which is in `calls` already. */
  respond: (call: ReceivedCall, response: ServerResponse) => void = (_call, response) =>
    response.writeHead(this.status).end();
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((content) => {
        const body = JSON.parse(content) as Record<string, unknown>;
        const call = { path: request.url ?? "", headers: request.headers, text: content, body };
        this.calls.push(call);
        this.respond(call, response);
        for (const wake of [...this.#waiting]) wake();
      });
    });
  }

  /** Listens on a free port of this machine. */
  static async listen(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}/hook`;
  }

  /** The first call that fits, among those that arrived and those that will. @throws after four minutes. */
  async received(fits: (call: ReceivedCall) => boolean): Promise<ReceivedCall> {
    const deadline = AbortSignal.timeout(PATIENCE);
    for (;;) {
      const call = this.calls.find(fits);
      if (call !== undefined) return call;
      if (deadline.aborted) {
        const arrived = this.calls.map((other) => other.text).join("\n");
        throw new Error(`No call that fits ${fits.toString()} arrived in time. These arrived:\n${arrived}`);
      }
      await this.#next(deadline);
    }
  }

  /** Resolves when this many calls have arrived. @throws after four minutes. */
  async count(calls: number): Promise<void> {
    await this.received(() => this.calls.length >= calls);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #next(deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        deadline.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      deadline.addEventListener("abort", done);
    });
  }
}
