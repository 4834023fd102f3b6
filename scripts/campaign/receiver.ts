import { WebhookReceiver } from "../webhooks/receiver.ts";

/** Receives the webhooks and records the final events of each request. */
export class Receiver {
  readonly #webhooks: WebhookReceiver;
  /** Final events by request. An event that is delivered repeatedly counts once. */
  readonly finals = new Map<string, Set<string>>();

  private constructor(webhooks: WebhookReceiver) {
    this.#webhooks = webhooks;
    webhooks.respond = ({ body }, response) => {
      this.#record(body as { id: string; type: string; request_id: string });
      // A campaign may run for hours, so the calls themselves are not kept.
      webhooks.calls.length = 0;
      response.end();
    };
  }

  static async start(): Promise<Receiver> {
    return new Receiver(await WebhookReceiver.listen());
  }

  get url(): string {
    return this.#webhooks.url;
  }

  stop(): Promise<void> {
    return this.#webhooks.close();
  }

  #record(event: { id: string; type: string; request_id: string }): void {
    // A `corrected` event may follow a final one when a reorganization was deeper than the confirmations.
    if (event.type !== "completed" && event.type !== "error") return;
    const known = this.finals.get(event.request_id) ?? new Set();
    this.finals.set(event.request_id, known.add(`${event.type} ${event.id}`));
  }
}
