import {
  advance,
  type BulkBatch,
  type BulkItem,
  type BulkProgress,
  type BulkRequest,
  type BulkResult,
  type BulkStep,
  failureOf,
  itemsIn,
  outcomeOf,
} from "./bulk-progress.ts";
import { type Client, type Shape, singleTries } from "./client.ts";
import { type ApiRefusal, refusalOf } from "./errors.ts";
import { pause } from "./pause.ts";
import { retryAfterOf } from "./retries.ts";
import { bodyText } from "./rules/exact-json.ts";
import { type Answer, untilAnswered } from "./until-answered.ts";

type Mint = Shape<"Mint">;

/** The bodies of the mints, in order. null: this item is left out and stays `waiting`. */
export type BulkItems = Iterable<Mint | null> | AsyncIterable<Mint | null>;

/** How calls are repeated. @param what for messages, such as "mint" */
export type BulkCall = <T>(what: string, send: () => Promise<Answer<T>>) => Promise<T>;

/** How a bulk mint works. Times are in milliseconds. */
export interface BulkOptions {
  /** `newProgress(name)`, or the progress that an earlier call has stored. It is changed in place. */
  progress: BulkProgress;
  /**
   * Stores the progress, or only the step that has led to it. Nothing further is done before it resolves. Without it, a run
   * that was interrupted cannot be continued safely.
   */
  keep?: (progress: BulkProgress, step: BulkStep) => void | Promise<void>;
  /** Batches under way at a time, 1 to 16. Default: 1, so that an ERC721 collection numbers the tokens in the order of the items. */
  atOnce?: number;
  /** Most items of a batch, 1 to 1,000. Default: 250, so that progress is visible. */
  batchItems?: number;
  /** How long the service may be busy or away, or without room for more tokens, before the run stops. Default: 600,000. */
  patience?: number;
  /** How often a call is repeated at most. Default: as often as `patience` allows. */
  maxRetries?: number;
  /** Ends the run before its next call. The answer to a call under way is still stored. */
  signal?: AbortSignal;
  /** Send batches again whose answer was lost more than six days ago, although the service may have forgotten their keys. */
  sendOld?: boolean;
  /** Replaces how calls are repeated. */
  call?: BulkCall;
}

const MOST_AT_ONCE = 16;
const MOST_BATCH_ITEMS = 1_000;
/** Items, bytes and JSON values of a batch. At most half of what the service allows by default. */
export const BATCH_ITEMS = 250;
const BATCH_BYTES = 4_000_000;
export const BATCH_VALUES = 100_000;
/** The shortest time for which an operator can keep idempotency keys is a week. */
const KEY_LASTS = 6 * 86_400_000;
const PATIENCE = 600_000;
/** When items are refused for lack of room without `Retry-After`. */
const NO_ROOM_WAIT = 5_000;
/** Between two polls of a request that is not final. */
const POLL = 1_000;
/** Between two pages: the app's other calls share its rate limit. */
const BETWEEN_PAGES = 120;
/** So many more requests that are not of this run end a search. */
const OTHER_REQUESTS = 300;

/** Answers to a batch before the service looks at its items. Proxies give these, too. */
const REFUSES_BEFORE_KEY = [408, 413];
/** The service finds the answer to an earlier call with the same key before it gives one of these. */
const REFUSES_AFTER_KEY = [400, 422];

/**
 * A bulk mint stopped before its end. Nothing is lost: continue with the stored progress.
 * @example
 * ```ts
 * try {
 *   await run.send(items);
 * } catch (error) {
 *   if (!(error instanceof BulkStopped) || error.reason !== "no_room") throw error;
 *   console.log(`Continue in ${(error.wait / 1_000).toString()} s.`);
 * }
 * ```
 */
export class BulkStopped extends Error {
  override readonly name = "BulkStopped";
  /**
   * `no_room`: a quota is used up, or too many requests wait, for longer than the patience. `uncertain`: the answer to a batch
   * was lost, and now the batch is refused. `old`: the answer was lost so long ago that the service may have forgotten its key.
   */
  readonly reason: "no_room" | "uncertain" | "old";
  /** Milliseconds after which the service expects to have room. 0 with another reason. */
  readonly wait: number;

  constructor(reason: BulkStopped["reason"], message: string, { wait = 0, cause }: { wait?: number; cause?: unknown }) {
    super(message, { cause });
    this.reason = reason;
    this.wait = wait;
  }
}

/**
 * Mints any number of tokens with batches, and waits until each is final. Each item is minted once, also when the run is
 * interrupted and continued: call again with the progress that `keep` has stored, and the same items.
 * @param items bodies of mints. A generator may make them one by one: only those of a few batches are in memory
 * @returns what became of each item, in their order
 * @throws {BulkStopped} when the service has no room for more tokens, or cannot say whether it has taken a batch
 * @throws {ApiRefusal} when it refuses a call for another reason than its items, or is busy for longer than the patience
 * @throws {ConnectionFailed} when it cannot be reached for longer than the patience
 * @example
 * ```ts
 * const items = ["alice", "bob"].map((user) => ({ collection_address: collection, to_user: user }));
 * for (const item of await bulkMint(client, items, { progress: newProgress("gifts-of-may") })) {
 *   console.log(item.is === "completed" ? `Token ${item.tokenId ?? ""}` : item);
 * }
 * ```
 */
export async function bulkMint(client: Client, items: BulkItems, options: BulkOptions): Promise<readonly BulkItem[]> {
  const run = new BulkMint(client, options);
  await run.send(items);
  await run.wait();
  return run.progress.items;
}

/**
 * The steps of `bulkMint`, for a program that does something between them, or hears of its requests in another way than by
 * asking.
 * @example
 * ```ts
 * const run = new BulkMint(client, { progress });
 * await run.send(items);
 * console.log(`${itemsIn(progress, "accepted").length.toString()} tokens are on their way.`);
 * await run.wait();
 * ```
 */
export class BulkMint {
  readonly progress: BulkProgress;
  readonly #client: Client;
  readonly #options: BulkOptions;
  readonly #signal: AbortSignal;
  readonly #patience: number;
  readonly #call: BulkCall;
  #kept: Promise<void> = Promise.resolve();

  /** @throws {RangeError} when a number in the options is outside of its range. With 0 nothing would be sent. */
  constructor(client: Client, options: BulkOptions) {
    within("atOnce", options.atOnce, MOST_AT_ONCE);
    within("batchItems", options.batchItems, MOST_BATCH_ITEMS);
    const { progress, signal = new AbortController().signal, patience = PATIENCE, maxRetries = Infinity } = options;
    this.progress = progress;
    this.#client = client;
    this.#options = options;
    this.#signal = signal;
    this.#patience = patience;
    this.#call = options.call ?? ((_what, send) => untilAnswered(send, { patience, maxRetries, signal }));
  }

  /**
   * Sends what is left. A batch whose answer is not known is sent first, with the same key and body, so it gets its answer, or
   * mints now.
   */
  async send(items: BulkItems): Promise<void> {
    const [old] = oldBatches(this.progress, Date.now());
    if (old !== undefined && this.#options.sendOld !== true) throw tooOld(old);
    for (const batch of [...this.progress.open]) {
      this.#signal.throwIfAborted();
      await this.#deliver(batch, true);
    }
    const queue = new Queue(items, this.progress);
    let failed = false;
    // One worker at a time reads items, so that the batches have the order of the items.
    let turn: Promise<BulkBatch | null> = Promise.resolve(null);
    const work = async () => {
      try {
        for (;;) {
          turn = turn.then(() => (failed ? null : this.#next(queue)));
          const batch = await turn;
          if (batch === null) return;
          queue.putBack(await this.#deliver(batch, false));
        }
      } catch (error) {
        failed = true;
        throw error;
      }
    };
    try {
      // The answers to the other calls under way are stored before an error ends the run.
      const ends = await Promise.allSettled(Array.from({ length: this.#options.atOnce ?? 1 }, work));
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    } finally {
      await queue.close();
    }
  }

  /** Waits until every accepted item is final. */
  async wait(): Promise<void> {
    for (;;) {
      const index = this.progress.items.findIndex(({ is }) => is === "accepted");
      const oldest = this.progress.items[index];
      if (oldest?.is !== "accepted") return;
      const { requestId } = oldest;
      const request = await this.#request(requestId);
      if (request === null) {
        await this.#record({ step: "settle", outcomes: [{ index, outcome: { is: "unknown", requestId } }] });
        continue;
      }
      // Requests end in about the order in which they came, so the pages are worth reading only now.
      const found = outcomeOf(request) === null ? [] : [request, ...(await this.#recentMints())];
      if (found.length === 0) await pause(POLL, this.#signal);
      else await this.settle(found);
    }
  }

  /** Asks once for the outcomes of the accepted items, without waiting for those that are not final. */
  async look(): Promise<void> {
    if (itemsIn(this.progress, "accepted").length > 0) await this.settle(await this.#recentMints());
  }

  /** Writes the outcomes of requests into the progress, such as those that events have told. Other requests are ignored. */
  async settle(requests: readonly BulkRequest[]): Promise<void> {
    const open = this.#accepted();
    const outcomes = requests.flatMap((request) => {
      const index = open.get(request.request_id);
      const outcome = outcomeOf(request);
      if (index === undefined || outcome === null) return [];
      open.delete(request.request_id);
      return [{ index, outcome }];
    });
    if (outcomes.length > 0) await this.#record({ step: "settle", outcomes });
  }

  /** Steps are stored one after the other. After a failure nothing further is stored, and so nothing further is sent. */
  #record(step: BulkStep): Promise<void> {
    this.#kept = this.#kept.then(async () => {
      advance(this.progress, step);
      await this.#options.keep?.(this.progress, step);
    });
    return this.#kept;
  }

  /** Makes the next batch and stores it, so that whoever continues knows its key. @returns null after the last item */
  async #next(queue: Queue): Promise<BulkBatch | null> {
    this.#signal.throwIfAborted();
    const taken = await queue.take(Math.min(this.#options.batchItems ?? BATCH_ITEMS, this.progress.most));
    if (taken.length === 0) return null;
    const batch = {
      // The number follows from the progress: two processes that continue the same progress send the same key.
      key: `${this.progress.name}-${this.progress.batches.toString()}`,
      items: taken.map(({ index }) => index),
      bodies: taken.map(({ body }) => storable(body)),
      at: Date.now(),
    };
    await this.#record({ step: "send", ...batch });
    return batch;
  }

  /** Sends a batch, and waits for room when the service has none. @returns the items that go into another batch */
  async #deliver(batch: BulkBatch, sentBefore: boolean): Promise<QueuedItem[]> {
    const { key } = batch;
    const answer = await this.#mint(batch, sentBefore);
    await this.#record(
      "refused" in answer
        ? { step: "refuse", key, failure: failureOf(answer.refused) }
        : { step: "answer", key, results: answer.results },
    );
    const back = batch.items.flatMap((index, place) => {
      const body = batch.bodies[place];
      return body !== undefined && this.progress.items[index]?.is === "waiting" ? [{ index, body }] : [];
    });
    if ("refused" in answer || back.length === 0) return back;
    const wait = answer.retryAfter ?? NO_ROOM_WAIT;
    if (wait > this.#patience) throw new BulkStopped("no_room", NO_ROOM, { wait });
    await pause(wait, this.#signal);
    return back;
  }

  /** @param sentBefore whether it was sent before, and its answer was lost */
  async #mint({ key, bodies }: BulkBatch, sentBefore: boolean): Promise<MintAnswer> {
    let lost = sentBefore;
    const answer = await this.#call<MintAnswer>("mint", async () => {
      const lostBefore = lost;
      lost = true;
      const call = { body: { items: bodies }, headers: { "Idempotency-Key": key }, fetch: singleTries(this.#client) };
      const { data, error, response } = await this.#client.POST("/v1/nfts/batch", call);
      if (data !== undefined) {
        return { data: { results: data.results, retryAfter: retryAfterOf(response) }, response };
      }
      if (response.status === 429) lost = lostBefore;
      const refused = refusalOf(response, error);
      return isRefused(refused, lostBefore) ? { data: { refused }, response } : { error, response };
    });
    if ("results" in answer && answer.results.length !== bodies.length) {
      throw new Error("A batch has one result for each item.");
    }
    return answer;
  }

  /** @returns null when the service does not know the request. */
  async #request(id: string): Promise<Shape<"Request"> | null> {
    const path = { request_id: id };
    const { request } = await this.#call<{ request: Shape<"Request"> | null }>("read a request", async () => {
      const call = { params: { path }, fetch: singleTries(this.#client) };
      const { data, error, response } = await this.#client.GET("/v1/requests/{request_id}", call);
      const unknown = response.status === 404 && refusalOf(response, error).body !== null;
      return data === undefined && !unknown ? { error, response } : { data: { request: data ?? null }, response };
    });
    return request;
  }

  /** Reads pages, newest first, until all open requests were seen, or the app's other requests are too many. */
  async #recentMints(): Promise<Shape<"Request">[]> {
    const open = this.#accepted();
    const seen: Shape<"Request">[] = [];
    let others = 0;
    for (let cursor: string | null = null; ;) {
      const query = { type: "mint" as const, ...(cursor !== null && { cursor }) };
      const page: Shape<"RequestsPage"> = await this.#call("list the requests", () =>
        this.#client.GET("/v1/requests", { params: { query }, fetch: singleTries(this.#client) }),
      );
      const own = page.requests.filter(({ request_id: id }) => open.has(id));
      seen.push(...own);
      others += page.requests.length - own.length;
      cursor = page.next;
      if (cursor === null || seen.length >= open.size || others > open.size + OTHER_REQUESTS) return seen;
      await pause(BETWEEN_PAGES, this.#signal);
    }
  }

  /** The items whose requests are not final, by request id. */
  #accepted(): Map<string, number> {
    return new Map(
      this.progress.items.flatMap((item, index) => (item.is === "accepted" ? [[item.requestId, index] as const] : [])),
    );
  }
}

function within(name: string, value: number | undefined, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return;
  throw new RangeError(`${name} must be a whole number from 1 to ${most.toString()}.`);
}

const NO_ROOM =
  "The service has no room for more tokens: a quota is used up, or too many requests wait. Continue later.";

/** The answer to a batch, or why nothing of it was taken. */
type MintAnswer = { results: readonly BulkResult[]; retryAfter: number | null } | { refused: ApiRefusal };

/** Whether the service took nothing of a batch because of what is in it. @throws BulkStopped when it may have been taken before */
function isRefused(refusal: ApiRefusal, lostBefore: boolean): boolean {
  if (REFUSES_AFTER_KEY.includes(refusal.status)) return refusal.body !== null;
  if (!REFUSES_BEFORE_KEY.includes(refusal.status)) return false;
  if (!lostBefore) return true;
  throw new BulkStopped(
    "uncertain",
    `A batch was sent, its answer was lost, and now it is refused: ${refusal.message}. It may have been accepted before, so its items stay as they are. Let the service and its proxies accept a body of this size again, then continue.`,
    { cause: refusal },
  );
}

/** Batches whose answer was lost so long ago that the service may have forgotten their keys. */
export function oldBatches({ open }: BulkProgress, now: number): BulkBatch[] {
  return open.filter(({ at }) => now - at > KEY_LASTS);
}

function tooOld({ items, at }: BulkBatch): BulkStopped {
  return new BulkStopped(
    "old",
    `${items.length.toString()} items (from ${(items[0] ?? 0).toString()} on) were sent on ${new Date(at).toISOString()}, and the answer was lost. If the service has forgotten that call, sending it again would mint twice. Look whether the collection has these tokens. If they are missing, continue with \`sendOld\`.`,
    {},
  );
}

/** The progress is plain JSON. The service takes decimal strings in the fields that are integers. */
function storable(body: Mint): Mint {
  const fields = Object.entries(body).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "bigint" ? value.toString() : value,
  ]);
  return Object.fromEntries(fields) as Mint;
}

interface QueuedItem {
  index: number;
  body: Mint;
}

/** The items that are not sent, in their order. It reads only as many as a batch needs. */
class Queue {
  readonly #source: Iterator<Mint | null> | AsyncIterator<Mint | null>;
  readonly #progress: BulkProgress;
  #count = 0;
  #waiting: QueuedItem[] = [];

  constructor(items: BulkItems, progress: BulkProgress) {
    this.#source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    this.#progress = progress;
  }

  /** The items of a batch that is not too large. It has one item at least, if there is one. */
  async take(most: number): Promise<QueuedItem[]> {
    let [bytes, values, count] = [0, 0, 0];
    for (; count < most; count++) {
      const item = this.#waiting[count] ?? (await this.#read());
      if (item === null) break;
      bytes += new TextEncoder().encode(bodyText(item.body)).length + 1;
      values += valuesOf(item.body);
      if (count > 0 && (bytes > BATCH_BYTES || values > BATCH_VALUES)) break;
    }
    return this.#waiting.splice(0, count);
  }

  /** Items that come back are sent before those that were not read yet. */
  putBack(items: readonly QueuedItem[]): void {
    this.#waiting = [...this.#waiting, ...items].sort((a, b) => a.index - b.index);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** Reads on to the next item that was not sent, and puts it at the end. */
  async #read(): Promise<QueuedItem | null> {
    for (;;) {
      const next = await this.#source.next();
      if (next.done === true) return null;
      const body = next.value;
      const index = this.#count++;
      const state = (this.#progress.items[index] ??= { is: "waiting" });
      if (body === null || state.is !== "waiting") continue;
      const item = { index, body };
      this.#waiting.push(item);
      return item;
    }
  }
}

/** The values of a JSON text, counted as generously as the service counts them. Never recurses: the caller chooses the depth. */
export function valuesOf(value: unknown): number {
  let count = 1;
  for (let level = [value]; level.length > 0;) {
    const containers = level.filter((one): one is object => typeof one === "object" && one !== null);
    level = containers.flatMap((one) => Object.values<unknown>(one as Record<string, unknown>));
    // An empty array counts as if it had an entry.
    count += level.length + containers.length;
  }
  return count;
}
