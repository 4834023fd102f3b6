import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { Webhook } from "standardwebhooks";

/** A call as it came, whatever it says. */
export interface ReceivedCall {
  headers: IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
}

/** An app's receiver of webhooks on this machine: keeps every call, and answers what it is told to. */
export class TestReceiver {
  readonly calls: ReceivedCall[] = [];
  /** Status of the answers from now on. */
  status = 204;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((content) => {
        this.calls.push({
          headers: request.headers,
          text: content,
          body: JSON.parse(content) as Record<string, unknown>,
        });
        response.writeHead(this.status).end();
        for (const wake of [...this.#waiting]) wake();
      });
    });
  }

  static async listen(): Promise<TestReceiver> {
    const receiver = new TestReceiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}/hook`;
  }

  /** The first call that fits, now or later. @throws after 20 s. */
  async received(fits: (call: ReceivedCall) => boolean): Promise<ReceivedCall> {
    const deadline = AbortSignal.timeout(20_000);
    for (;;) {
      const call = this.calls.find(fits);
      if (call !== undefined) return call;
      if (deadline.aborted) throw new Error(`no such call among ${this.calls.map((other) => other.text).join("\n")}`);
      await this.#next(deadline);
    }
  }

  /** Resolves once there were so many calls. */
  async count(calls: number): Promise<void> {
    await this.received(() => this.calls.length >= calls);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
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

/** Whether the call is signed with the secret. */
export function isSigned(call: ReceivedCall, secret: string): boolean {
  try {
    new Webhook(secret).verify(call.text, call.headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
