import { TOKEN_EVENTS } from "../../api/domain/events.ts";
import { WebhookReceiver } from "../scene/receiver.ts";
import { TokenArrivals } from "./compare-events.ts";

/** Paths of the webhooks at the receiver: `WebhookReceiver.url` is the first. The slow one answers after so many milliseconds. */
const [HOOK, TOKENS, SLOW] = ["/hook", "/tokens", "/slow"];
const SLOW_ANSWER = 1_000;
/** Nothing listens there. */
const DEAD = "http://127.0.0.1:9/dead";

/** Calls the service as an app. */
interface Caller {
  ok(method: string, path: string, body: Record<string, unknown>): Promise<unknown>;
}

/**
 * The webhooks of an app, and what came to them: the first for events of requests, one for events of tokens, and two that must delay no
 * other, because one is slow and one is dead.
 */
export class AppWebhooks {
  /** The final events by request, as type and id. An event that is delivered repeatedly counts once. */
  readonly finals = new Map<string, Set<string>>();
  /** When the webhooks for completed requests arrived (monotonic clock), since it was last cleared. */
  readonly completedAt = new Map<string, number>();
  readonly tokens = new TokenArrivals();
  readonly slow = new TokenArrivals();
  readonly #receiver: WebhookReceiver;

  private constructor(receiver: WebhookReceiver) {
    this.#receiver = receiver;
    receiver.respond = ({ path, body }, response) => {
      // A campaign may run for hours, so the calls themselves are not kept.
      receiver.calls.length = 0;
      if (path === SLOW) setTimeout(() => response.end(), SLOW_ANSWER);
      else response.end();
      const event = body as { id: string; type: string; request_id: string };
      if (path === HOOK) this.#addOfRequest(event);
      else (path === SLOW ? this.slow : this.tokens).add(event);
    };
  }

  static async listen(): Promise<AppWebhooks> {
    return new AppWebhooks(await WebhookReceiver.listen());
  }

  async addFirst(app: Caller): Promise<void> {
    await app.ok("PUT", "/v1/webhook", { url: this.#receiver.url });
  }

  async addForTokens(app: Caller): Promise<void> {
    for (const url of [TOKENS, SLOW].map((path) => this.#receiver.origin + path).concat(DEAD))
      await app.ok("POST", "/v1/webhooks", { url, events: TOKEN_EVENTS });
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  #addOfRequest({ id, type, request_id: request }: { id: string; type: string; request_id: string }): void {
    // A `corrected` event may follow a final one when a reorganization was deeper than the confirmations.
    if (type !== "completed" && type !== "error") return;
    if (type === "completed" && !this.finals.has(request)) this.completedAt.set(request, performance.now());
    this.finals.set(request, (this.finals.get(request) ?? new Set()).add(`${type} ${id}`));
  }
}
