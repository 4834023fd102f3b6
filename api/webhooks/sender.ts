import { type Dispatcher as Agent, request } from "undici";

import type { Sealer } from "../keys/sealer.ts";
import { openSecrets, signatureHeaders, type SigningKey, signingKey } from "../keys/webhook-secrets.ts";
import { HOW_TO_ALLOW } from "../outbound/addresses.ts";
import { answerText, MAX_ANSWER_BYTES } from "../shared/answer-text.ts";
import { BoundedMap } from "../shared/bounded-map.ts";
import type { DueDelivery } from "../store/outbox/due-deliveries.ts";

/** How long a receiver has to answer, in milliseconds. */
const TIMEOUT = 15_000;
/** Webhooks whose keys are kept. */
const OPENED = 500;

/** @param status null: the receiver did not answer, and `error` says why. @param body how the answer begins */
export interface Sent {
  status: number | null;
  body: string | null;
  error: string | null;
}

/** Signs and posts deliveries. */
export class WebhookSender {
  readonly #sealer: Sealer;
  readonly #agent: Agent;
  /** By webhook and the encrypted text of its secrets. Decrypting takes as long as the rest of the work for a delivery. */
  readonly #opened = new BoundedMap<string, readonly SigningKey[]>(OPENED);

  readonly #acceptsUnbound: () => Promise<boolean>;

  /** @param agent connects only to public addresses. @param acceptsUnbound see `Sealer.open`. */
  constructor(sealer: Sealer, agent: Agent, acceptsUnbound: () => Promise<boolean>) {
    this.#sealer = sealer;
    this.#acceptsUnbound = acceptsUnbound;
    this.#agent = agent;
  }

  /** Signs, and sends once. @throws SealError when the secrets cannot be decrypted. */
  async send(delivery: DueDelivery, at: number): Promise<Sent> {
    const { eventId: id, payload, url } = delivery;
    const headers = signatureHeaders(await this.#keysOf(delivery), { id, at, payload });
    headers["content-type"] = "application/json";
    headers["user-agent"] = "moneta";
    return post(this.#agent, { url, headers, body: payload, timeout: TIMEOUT });
  }

  async #keysOf({ webhookId, secrets: sealed }: DueDelivery): Promise<readonly SigningKey[]> {
    const known = this.#opened.get(`${webhookId} ${sealed}`);
    if (known !== undefined) return known;
    const keys = (await openSecrets(this.#sealer, { webhookId, sealed }, this.#acceptsUnbound)).map(signingKey);
    this.#opened.set(`${webhookId} ${sealed}`, keys);
    return keys;
  }
}

/** Says in the app's delivery log what went wrong, without any address of the service's network. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error instanceof NoAnswerInTime)
    return `the receiver did not answer within ${(TIMEOUT / 1_000).toString()} seconds`;
  if ("code" in error && error.code === "BLOCKED_ADDRESS")
    return `the URL leads to an address that is not public. ${HOW_TO_ALLOW}`;
  return "code" in error && typeof error.code === "string" ? `connection failed (${error.code})` : "connection failed";
}

/** Thrown when the receiver did not answer in time. */
class NoAnswerInTime extends Error {
  override readonly name = "NoAnswerInTime";
}

interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Milliseconds that the receiver has to answer. The agent's own time to connect is shorter than that of webhooks. */
  timeout: number;
}

/** A body of up to this many bytes is read to its end, so that its connection can be used again. Only its beginning is kept. */
const LONGEST_BODY = 16_384;
/** Milliseconds from the status of an answer to the end of its body. */
const BODY_TIMEOUT = 1_000;

/** Posts once. Redirects are not followed. A body that is too long or too slow only closes its connection. */
export async function post(agent: Agent, { url, headers, body, timeout }: Post): Promise<Sent> {
  const abort = new AbortController();
  const { signal } = abort;
  let timer = setTimeout(() => {
    abort.abort(new NoAnswerInTime());
  }, timeout);
  const options = { dispatcher: agent, headers, body, signal, headersTimeout: 0, bodyTimeout: 0 };
  try {
    const answer = await request(url, { ...options, method: "POST" });
    clearTimeout(timer);
    timer = setTimeout(() => {
      abort.abort();
    }, BODY_TIMEOUT);
    return { status: answer.statusCode, body: await beginningOf(answer.body), error: null };
  } catch (error) {
    return { status: null, body: null, error: describeFailure(error) };
  } finally {
    clearTimeout(timer);
  }
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string | null> {
  const kept: Buffer[] = [];
  let received = 0;
  try {
    for await (const chunk of body) {
      // Copies: a part of a buffer would keep all of it in memory.
      if (received < MAX_ANSWER_BYTES) kept.push(Buffer.from(chunk.subarray(0, MAX_ANSWER_BYTES - received)));
      received += chunk.length;
      if (received > LONGEST_BODY) break;
    }
  } catch {
    // The receiver has answered: the status counts, and what came of the body.
  }
  return answerText(Buffer.concat(kept), received <= MAX_ANSWER_BYTES);
}
