import type { components } from "./document.ts";
import type { DefaultEventName, EventName, EventOf } from "./events.ts";
import { WebhookRefused } from "./errors.ts";

/**
 * The body of a webhook that gets events of these types: by default those of requests. `test` is the type of the event that
 * `POST /v1/webhook/test` sends.
 */
export type WebhookEvent<Name extends EventName = DefaultEventName> =
  EventOf<Name> | components["schemas"]["TestEvent"];

/** Headers as `fetch` has them, or as Node's `request.headers`. */
export type WebhookHeaders = Pick<Headers, "get"> | Record<string, string | readonly string[] | undefined>;

/** What a webhook may be, and how old. */
export interface VerifyOptions<Name extends EventName = EventName> {
  /** The types that the webhook gets, for the type of the result. Needed only if it names types beyond the default ones. */
  types?: readonly Name[];
  /** Seconds by which `webhook-timestamp` may differ from the clock. Default: 300. Older calls may be replayed by an attacker. */
  tolerance?: number;
  /** The time in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
}

const TOLERANCE = 300;
const PREFIX = "whsec_";

/**
 * Checks that a call to the app's URL comes from the service and is not old. An event may arrive twice with the same `id`.
 * @param payload the body exactly as it was received: parsing it first may change its bytes
 * @param headers `request.headers`, of the Fetch API or of Node
 * @param secrets the secret of the webhook (`whsec_...`). While you change secrets, the old one and the new one
 * @returns the event
 * @throws {WebhookRefused} when the call is not genuine, or older than the tolerance
 * @throws {Error} when a secret is malformed or missing
 * @example
 * ```ts
 * const event = await verifyWebhook(await request.text(), request.headers, secret);
 * if (event.type === "completed") console.log(`Request ${event.request_id} has completed.`);
 * ```
 */
export async function verifyWebhook<Name extends EventName = DefaultEventName>(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { tolerance = TOLERANCE, now = Date.now }: VerifyOptions<Name> = {},
): Promise<WebhookEvent<Name>> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    header(headers, name),
  ) as [string, string, string];
  checkTime(timestamp, tolerance, now());
  const body = typeof payload === "string" ? new TextEncoder().encode(payload) : new Uint8Array(payload);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const keys = (typeof secrets === "string" ? [secrets] : secrets).map(keyOf);
  if (keys.length === 0) throw new Error("verifyWebhook needs the secret of the webhook.");
  const given = signatures.split(" ").map(bytesOfSignature);
  const expected = await Promise.all(keys.map((key) => signature(key, signed)));
  if (!expected.some((one) => given.some((other) => other !== null && areEqual(one, other)))) {
    throw new WebhookRefused(
      "signature",
      "The signature of the webhook is wrong. Pass the body as it was received, and the secret of this app's webhook.",
    );
  }
  return eventOf<Name>(body);
}

function header(headers: WebhookHeaders, name: string): string {
  const value =
    // Another implementation of `fetch` has a class `Headers` of its own.
    isHeaders(headers) ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = typeof value === "object" ? value?.[0] : value;
  if (text === undefined || text === "") {
    throw new WebhookRefused(
      "headers",
      `The webhook has no header ${name}. Only the service's own calls are accepted.`,
    );
  }
  return text;
}

function isHeaders(headers: WebhookHeaders): headers is Pick<Headers, "get"> {
  return typeof headers.get === "function";
}

function checkTime(timestamp: string, tolerance: number, now: number): void {
  const seconds = /^\d{1,15}$/.test(timestamp) ? Number(timestamp) : null;
  if (seconds === null) throw new WebhookRefused("timestamp", "webhook-timestamp is not a time in seconds since 1970.");
  const age = now / 1_000 - seconds;
  if (Math.abs(age) > tolerance) {
    const relation = age > 0 ? "old" : "far in the future";
    throw new WebhookRefused(
      "timestamp",
      `The webhook is too ${relation}: ${Math.round(Math.abs(age)).toString()} s. Check the clock of this machine.`,
    );
  }
}

/** The secret is for the developer to correct, so a malformed one is no `WebhookRefused`. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === null || bytes.length === 0) {
    throw new Error(`The secret of a webhook is ${PREFIX} and base64. PUT /v1/webhook returns it once.`);
  }
  return bytes;
}

function bytesOfSignature(text: string): Uint8Array | null {
  return text.startsWith("v1,") ? fromBase64(text.slice(3)) : null;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

async function signature(secret: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
}

/** Takes the same time wherever the bytes differ. */
function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

function eventOf<Name extends EventName>(body: Uint8Array): WebhookEvent<Name> {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder().decode(body));
  } catch {
    event = null;
  }
  if (typeof event !== "object" || event === null || !("type" in event)) {
    throw new WebhookRefused("payload", "The webhook is signed, but its body is not an event.");
  }
  return event as WebhookEvent<Name>;
}
