import type { Dispatcher as Agent } from "undici";

import type { Sealer } from "../keys/sealer.ts";
import { openSecrets, signatureHeaders, type SigningKey, signingKey } from "../keys/webhook-secrets.ts";
import type { DueDelivery } from "../store/outbox/due-deliveries.ts";
import { NoAnswerInTime, Poster } from "./poster.ts";

/** How long a receiver has to answer, in milliseconds. */
const TIMEOUT = 15_000;
/** Webhooks whose keys are kept. */
const MOST_OPENED = 1_000;

/** @param status null: the receiver did not answer, and `error` says why. */
export interface Sent {
  status: number | null;
  error: string | null;
}

function keyOf({ appId, secrets }: DueDelivery): string {
  return `${appId} ${secrets}`;
}

/** Signs and posts deliveries. */
export class Sender {
  readonly #sealer: Sealer;
  readonly #poster: Poster;
  /** By app and the encrypted text of its secrets, the newest last. Decrypting takes as long as the rest of the work for a delivery. */
  readonly #opened = new Map<string, readonly SigningKey[]>();

  readonly #acceptsUnbound: () => Promise<boolean>;

  /** @param agent connects only to public addresses. @param acceptsUnbound see `Sealer.open`. */
  constructor(sealer: Sealer, agent: Agent, acceptsUnbound: () => Promise<boolean>) {
    this.#sealer = sealer;
    this.#acceptsUnbound = acceptsUnbound;
    this.#poster = new Poster(agent);
  }

  /** The keys that sign a delivery, if they are known; otherwise `open` decrypts them. */
  keysOf(delivery: DueDelivery): readonly SigningKey[] | undefined {
    return this.#opened.get(keyOf(delivery));
  }

  /** @throws SealError when the secrets cannot be decrypted. */
  async open(delivery: DueDelivery): Promise<readonly SigningKey[]> {
    const { appId, secrets: sealed } = delivery;
    const keys = (await openSecrets(this.#sealer, { appId, sealed }, this.#acceptsUnbound)).map(signingKey);
    this.#opened.set(keyOf(delivery), keys);
    if (this.#opened.size > MOST_OPENED) {
      const [oldest] = this.#opened.keys();
      if (oldest !== undefined) this.#opened.delete(oldest);
    }
    return keys;
  }

  /** Signs, and sends once. */
  async send(delivery: DueDelivery, keys: readonly SigningKey[], at: number): Promise<Sent> {
    const { eventId: id, payload } = delivery;
    const headers = signatureHeaders(keys, { id, at, payload });
    headers["content-type"] = "application/json";
    headers["user-agent"] = "moneta";
    const answer = await this.#poster.post({ url: delivery.url, headers, body: payload, timeout: TIMEOUT });
    return "status" in answer
      ? { status: answer.status, error: null }
      : { status: null, error: describeFailure(answer.error) };
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
