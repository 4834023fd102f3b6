import type { Dispatcher as Agent } from "undici";

import type { Sealer } from "../keys/sealer.ts";
import { liveSecrets, openSecrets, signatureHeaders, type WebhookSecrets } from "../keys/webhook-secrets.ts";
import type { DueDelivery } from "../store/outbox/due-deliveries.ts";
import { NoAnswerInTime, post } from "./post.ts";

/** How long a receiver has to answer, in milliseconds. */
const TIMEOUT = 15_000;
/** Webhooks whose decrypted secrets are kept. */
const MOST_OPENED = 1_000;

/** @param status null: the receiver did not answer, and `error` says why. */
export interface Sent {
  status: number | null;
  error: string | null;
}

/** Signs and posts deliveries. */
export class Sender {
  readonly #sealer: Sealer;
  readonly #agent: Agent;
  /** By their encrypted text, the newest last. Decrypting takes as long as the rest of the work for a delivery. */
  readonly #opened = new Map<string, WebhookSecrets>();

  /** @param agent connects only to public addresses. */
  constructor(sealer: Sealer, agent: Agent) {
    this.#sealer = sealer;
    this.#agent = agent;
  }

  /** @throws SealError when the secret cannot be decrypted. */
  async sign(delivery: DueDelivery, at: Date): Promise<Record<string, string>> {
    const secrets = liveSecrets(
      this.#opened.get(delivery.secrets) ?? (await this.#open(delivery.secrets)),
      at.getTime(),
    );
    return signatureHeaders(secrets, { id: delivery.eventId, at, payload: delivery.payload });
  }

  /** Sends once. */
  async send(delivery: DueDelivery, headers: Record<string, string>): Promise<Sent> {
    const answer = await post(this.#agent, {
      url: delivery.url,
      headers: { ...headers, "content-type": "application/json", "user-agent": "moneta" },
      body: delivery.payload,
      timeout: TIMEOUT,
    });
    return "status" in answer
      ? { status: answer.status, error: null }
      : { status: null, error: describeFailure(answer.error) };
  }

  async #open(sealed: string): Promise<WebhookSecrets> {
    const secrets = await openSecrets(this.#sealer, sealed);
    this.#opened.set(sealed, secrets);
    if (this.#opened.size > MOST_OPENED) {
      const [oldest] = this.#opened.keys();
      if (oldest !== undefined) this.#opened.delete(oldest);
    }
    return secrets;
  }
}

/** Says in the app's delivery log what went wrong, without any address of the service's network. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error instanceof NoAnswerInTime)
    return `the receiver did not answer within ${(TIMEOUT / 1_000).toString()} seconds`;
  if ("code" in error && error.code === "BLOCKED_ADDRESS") return "the URL leads to an address that is not public";
  return "code" in error && typeof error.code === "string" ? `connection failed (${error.code})` : "connection failed";
}
