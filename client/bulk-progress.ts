import type { Shape } from "./client.ts";
import type { ApiRefusal, FieldErrors } from "./errors.ts";

/** Why an item was not minted. */
export interface BulkFailure {
  /** One of the documented codes, such as `validation_failed`. null when no code came with the answer. */
  code: string | null;
  /** What happened, and what to do next. */
  message: string;
  /** What is wrong with each field. Empty when the reason is not a field. */
  errors: NonNullable<FieldErrors>;
  /** The HTTP status, when the service refused the whole call that had only this item. */
  status: number | null;
}

/**
 * How far an item is. `completed`, `failed` and `unknown` are final. `unknown`: the service does not know the request any
 * more, as after its restore from a backup, so only the collection can say whether the token exists.
 */
export type BulkItem =
  | { is: "waiting" }
  /** In a batch whose answer is not known. */
  | { is: "sent"; key: string }
  | { is: "accepted"; requestId: string }
  | { is: "completed"; requestId: string; tokenId: string | null }
  /** `requestId` is null when the service refused the item at once. */
  | ({ is: "failed"; requestId: string | null } & BulkFailure)
  | { is: "unknown"; requestId: string };

/** A call of `POST /v1/nfts/batch`. */
export interface BulkBatch {
  /** Its `Idempotency-Key`. */
  key: string;
  /** Positions of its items. */
  items: number[];
  /** The bodies of its items, to send the same again. */
  bodies: Shape<"Mint">[];
  /** When it was sent first, in milliseconds since 1970. */
  at: number;
}

/** What a bulk mint has done so far. It is plain JSON: store it, and pass it again to continue. */
export interface BulkProgress {
  /** The idempotency keys of the run begin with it. */
  name: string;
  /** How many batches were made. The next one gets the next number. */
  batches: number;
  /** Batches whose answer is not known. */
  open: BulkBatch[];
  /** Most items of the next batch. Smaller after a batch that was refused, so that the wrong item is found. */
  most: number;
  /** One for each item that was read, in the order of the items. */
  items: BulkItem[];
  /** What the service warned of when it accepted items. Absent when there was nothing. */
  warnings?: BulkWarning[];
}

/** What accepted items probably do not do as it was meant. */
export type BulkWarning = Shape<"Warnings">[number] & {
  /** Positions of the items with this warning. */
  items: number[];
};

/** One entry of `results` in the answer to a batch. */
export interface BulkResult {
  request_id?: string | undefined;
  warnings?: Shape<"Warnings"> | undefined;
  error_code?: string | undefined;
  message?: string | undefined;
  errors?: FieldErrors | undefined;
}

/** A change of the progress. Whoever prefers a journal to the whole progress stores these, and replays them with `advance`. */
export type BulkStep =
  /** A batch is going to be sent. */
  | ({ step: "send" } & BulkBatch)
  /** The service has decided each item of the batch. */
  | { step: "answer"; key: string; results: readonly BulkResult[] }
  /** The service took nothing of the batch. */
  | { step: "refuse"; key: string; failure: BulkFailure }
  /** Requests are final. */
  | { step: "settle"; outcomes: { index: number; outcome: BulkItem }[] }
  /** Items that failed are minted again. */
  | { step: "again"; items: number[] };

/** Refused for lack of room, for now. The item goes into another batch. */
const TEMPORARY = ["unavailable", "quota_exceeded"];

/**
 * The progress of a run that has not begun.
 * @param name 1 to 200 visible ASCII characters, another one for each run
 * @example
 * ```ts
 * const progress = newProgress("drop-of-summer-2027");
 * ```
 */
export function newProgress(name: string): BulkProgress {
  return { name, batches: 0, open: [], most: Number.MAX_SAFE_INTEGER, items: [] };
}

/**
 * Positions of the items in one of these states.
 * @example
 * ```ts
 * const { items } = progress;
 * for (const index of itemsIn(progress, "failed")) console.error(index, items[index]);
 * ```
 */
export function itemsIn({ items }: BulkProgress, ...states: BulkItem["is"][]): number[] {
  return items.flatMap(({ is }, index) => (states.includes(is) ? [index] : []));
}

/**
 * Writes a step into the progress. Only for who stores steps: `BulkMint` does this with its own progress.
 * @example
 * ```ts
 * const replayed = newProgress("drop-of-summer-2027");
 * for (const step of steps) advance(replayed, step);
 * ```
 */
export function advance(progress: BulkProgress, step: BulkStep): void {
  const set = (index: number, item: BulkItem) => {
    progress.items[index] = item;
  };
  switch (step.step) {
    case "send": {
      const { key, items, bodies, at } = step;
      progress.batches += 1;
      progress.open.push({ key, items, bodies, at });
      for (const index of items) set(index, { is: "sent", key });
      return;
    }
    case "answer": {
      progress.most = Math.min(Number.MAX_SAFE_INTEGER, progress.most * 2);
      close(progress, step.key).forEach((index, place) => {
        set(index, decided(step.results[place]));
        for (const warning of step.results[place]?.warnings ?? []) warn(progress, index, warning);
      });
      return;
    }
    case "refuse": {
      const items = close(progress, step.key);
      progress.most = Math.max(1, Math.floor(items.length / 2));
      // An item that is refused alone is wrong. Several go into smaller batches.
      const alone = items.length === 1;
      for (const index of items)
        set(index, alone ? { is: "failed", requestId: null, ...step.failure } : { is: "waiting" });
      return;
    }
    case "settle":
      for (const { index, outcome } of step.outcomes) set(index, outcome);
      return;
    case "again":
      for (const index of step.items) set(index, { is: "waiting" });
  }
}

/** Many items have the same warning, so it is kept once. */
function warn(progress: BulkProgress, index: number, { field, code, message }: Shape<"Warnings">[number]): void {
  progress.warnings ??= [];
  const known = progress.warnings.find((one) => one.field === field && one.message === message);
  if (known === undefined) progress.warnings.push({ field, code, message, items: [index] });
  else known.items.push(index);
}

/** Removes an open batch. @returns the positions of its items */
function close(progress: BulkProgress, key: string): number[] {
  const batch = progress.open.find((one) => one.key === key);
  progress.open = progress.open.filter((one) => one !== batch);
  return batch?.items ?? [];
}

function decided(result: BulkResult | undefined): BulkItem {
  if (result === undefined) throw new Error("A batch has one result for each item.");
  const { request_id: requestId, error_code: code = null, message = "The service refused this item.", errors } = result;
  if (requestId !== undefined) return { is: "accepted", requestId };
  if (code !== null && TEMPORARY.includes(code)) return { is: "waiting" };
  return { is: "failed", requestId: null, code, message, errors: errors ?? [], status: null };
}

/** Why the service took nothing of a batch. */
export function failureOf({ status, body, errorCode: code, fieldErrors: errors }: ApiRefusal): BulkFailure {
  return { code, message: body?.message ?? `The service answered with status ${status.toString()}.`, errors, status };
}

/** What a bulk mint needs of a request, as `GET /v1/requests` shows it. */
export interface BulkRequest {
  request_id: string;
  status: string;
  nft_token_id?: number | string | null;
  error_code?: string | null;
  error_message?: string | null;
  errors?: FieldErrors;
}

/** @returns null when the request is not final. */
export function outcomeOf(request: BulkRequest): BulkItem | null {
  const { request_id: requestId, status, nft_token_id: id, error_code: code = null, errors } = request;
  if (status === "completed") return { is: "completed", requestId, tokenId: id == null ? null : String(id) };
  if (status !== "failed") return null;
  const message = request.error_message ?? "The request failed.";
  return { is: "failed", requestId, code, message, errors: errors ?? [], status: null };
}
