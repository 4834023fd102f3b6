import type { Dispatcher as Agent } from "undici";

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

function keyOf({ appId, secrets }: DueDelivery): string {
  return `${appId} ${secrets}`;
}

/** Signs and posts deliveries. */
export class WebhookSender {
  readonly #sealer: Sealer;
  readonly #poster: Poster;
  /** By app and the encrypted text of its secrets. Decrypting takes as long as the rest of the work for a delivery. */
  readonly #opened = new BoundedMap<string, readonly SigningKey[]>(OPENED);

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
      ? { status: answer.status, body: answer.body, error: null }
      : { status: null, body: null, error: describeFailure(answer.error) };
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

/** What came of a call: the status of the answer and how its body begins, or why there is none. */
type Answer = { status: number; body: string | null } | { error: unknown };

/** Thrown when the receiver did not answer in time. */
export class NoAnswerInTime extends Error {
  override readonly name = "NoAnswerInTime";
}

interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Milliseconds that the receiver has to answer, connecting included. */
  timeout: number;
}

/** A body of up to this many bytes is read to its end, so that its connection can be used again. Only its beginning is kept. */
const LONGEST_BODY = 16_384;
/** Milliseconds from the status of an answer to the end of its body. */
const BODY_TIMEOUT = 1_000;
/** How often to look for calls that take too long, in milliseconds. A timer for each call would cost more than signing it. */
const LOOK = 100;

/** Posts to receivers. Redirects are not followed. The time-outs of the agent are coarser than those here. */
export class Poster {
  readonly #agent: Agent;
  /** Calls that have not ended. */
  readonly #calls = new Set<Call>();
  #timer: NodeJS.Timeout | undefined;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /**
   * Posts once, and resolves when the answer is complete, or when its connection is closed because its body is too long or too
   * slow.
   */
  post({ url, headers, body, timeout }: Post): Promise<Answer> {
    return new Promise((resolve) => {
      const call = new Call(performance.now() + timeout, (answer) => {
        this.#calls.delete(call);
        resolve(answer);
      });
      this.#calls.add(call);
      this.#timer ??= setInterval(() => {
        this.#endOverdue();
      }, LOOK);
      try {
        const { origin, pathname, search } = new URL(url);
        const path = `${pathname}${search}`;
        this.#agent.dispatch({ origin, path, method: "POST", headers, body, headersTimeout: 0, bodyTimeout: 0 }, call);
      } catch (error) {
        call.onResponseError(null, error);
      }
    });
  }

  #endOverdue(): void {
    const now = performance.now();
    for (const call of this.#calls) if (call.deadline <= now) call.giveUp(new NoAnswerInTime());
    if (this.#calls.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** A call from its beginning to the end of its answer. */
class Call implements Agent.DispatchHandler {
  /** When it is given up (monotonic clock). */
  deadline: number;
  readonly #end: (answer: Answer) => void;
  #controller: Agent.DispatchController | null = null;
  #ended = false;
  #status: number | null = null;
  #received = 0;
  /** How the body begins. */
  #beginning: Buffer = Buffer.alloc(0);

  constructor(deadline: number, end: (answer: Answer) => void) {
    this.deadline = deadline;
    this.#end = end;
  }

  /** The connection is closed too, because the rest of the answer would still come on it. */
  giveUp(reason: Error): void {
    if (this.#ended) return;
    this.#endWith(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Agent.DispatchController): void {
    this.#controller = controller;
    // It took too long to connect.
    if (this.#ended) controller.abort(new NoAnswerInTime());
  }

  onResponseStart(_controller: Agent.DispatchController, status: number): void {
    // A status below 200 comes before the final one.
    if (this.#ended || status < 200) return;
    this.#status = status;
    this.deadline = performance.now() + BODY_TIMEOUT;
  }

  onResponseData(_controller: Agent.DispatchController, chunk: Buffer): void {
    // The connection is about to be closed. The body of an answer before the final one is not of interest.
    if (this.#ended || this.#status === null) return;
    // Copies: a part of a buffer would keep all of it in memory.
    if (this.#received < MAX_ANSWER_BYTES)
      this.#beginning = Buffer.concat([this.#beginning, chunk.subarray(0, MAX_ANSWER_BYTES - this.#received)]);
    this.#received += chunk.length;
    if (this.#received > LONGEST_BODY) this.giveUp(new Error("the body of the answer is too long"));
  }

  onResponseEnd(): void {
    // Only if it is needed: an error takes its stack along, which costs more than the rest of this.
    this.#endWith(this.#status === null ? new Error("the answer has no status") : null);
  }

  onResponseError(_controller: Agent.DispatchController | null, error: unknown): void {
    this.#endWith(error);
  }

  /** @param error counts if there is no status. */
  #endWith(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#status === null) this.#end({ error });
    else this.#end({ status: this.#status, body: answerText(this.#beginning, this.#received <= MAX_ANSWER_BYTES) });
  }
}
