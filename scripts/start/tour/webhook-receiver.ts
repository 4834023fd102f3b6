import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import type { Shape } from "../../../client/client.ts";
import { WebhookRefused } from "../../../client/errors.ts";
import { verifyWebhook, type WebhookEvent } from "../../../client/webhooks.ts";

/**
 * An HTTP server that receives webhooks and accepts only valid signatures. Every app with a webhook needs one. This is the
 * example to copy, so it stands alone and is as strict as an app must be. Tests use scripts/scene/receiver.ts instead,
 * which keeps every call.
 */
export class WebhookReceiver {
  readonly #server: Server;
  readonly #events = new Map<string, Shape<"Event">>();
  readonly #waiting = new Set<() => void>();
  #secret: string | null = null;
  #refused = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#receive(request, response).catch(() => response.destroy());
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
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`;
  }

  /** Events of requests with a valid signature, without duplicates, in order of arrival. */
  get events(): Shape<"Event">[] {
    return [...this.#events.values()];
  }

  /** Number of calls without a valid signature. */
  get refused(): number {
    return this.#refused;
  }

  /** @param secret as the registration of the webhook returned it. */
  trust(secret: string): void {
    this.#secret = secret;
  }

  /** The event with the outcome of the request, or null when none arrives in time. */
  async outcome(requestId: string, milliseconds: number, signal: AbortSignal): Promise<Shape<"Event"> | null> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
    for (;;) {
      signal.throwIfAborted();
      const event = this.events.find(({ request_id: id, type }) => id === requestId && type !== "sent");
      if (event !== undefined || deadline.aborted) return event ?? null;
      await this.#nextEvent(deadline);
    }
  }

  #nextEvent(deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        deadline.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      deadline.addEventListener("abort", done);
      this.#waiting.add(done);
    });
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const event = await this.#verified(await buffer(request), request.headers);
    if (event === null) {
      this.#refused++;
      response.writeHead(401).end();
      return;
    }
    // A delivery may arrive twice. The id tells duplicates apart.
    if (event.type !== "test") this.#events.set(event.id, event);
    response.writeHead(204).end();
    for (const wake of [...this.#waiting]) wake();
  }

  async #verified(body: Buffer, headers: IncomingHttpHeaders): Promise<WebhookEvent | null> {
    if (this.#secret === null) return null;
    try {
      return await verifyWebhook(body, headers, this.#secret);
    } catch (error) {
      if (error instanceof WebhookRefused) return null;
      throw error;
    }
  }
}
