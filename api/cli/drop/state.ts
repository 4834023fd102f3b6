import { ApiRefusal } from "../../../client/errors.ts";
import {
  advance,
  type BulkFailure,
  type BulkItem,
  type BulkProgress,
  type BulkStep,
  itemsIn,
  newProgress,
} from "../../../client/bulk-progress.ts";
import type { Entry, MintEntry, Outcome, Start } from "./journal.ts";

/** What a drop has done so far: its journal, read from the first entry to the last. */
export class DropState {
  /** The tokens are its items, in the order of the plan. The bulk mint of the client goes on with it. */
  readonly minting: BulkProgress;
  readonly uploads = new Map<string, { uri: string; at: number }>();
  start: Start | null = null;

  constructor(count: number, entries: readonly Entry[] = []) {
    this.minting = newProgress("drop");
    this.minting.items = Array.from({ length: count }, () => ({ is: "waiting" }));
    for (const entry of entries) this.apply(entry);
  }

  apply(entry: Entry): void {
    switch (entry.entry) {
      case "start":
        this.start = entry;
        this.minting.name = `drop-${entry.id}`;
        return;
      case "upload":
        this.uploads.set(entry.sha256, entry);
        return;
      default:
        advance(this.minting, stepOf(entry, this.minting));
    }
  }

  /** Positions of the tokens in one of these states. */
  in(...states: BulkItem["is"][]): number[] {
    return itemsIn(this.minting, ...states);
  }

  get finished(): boolean {
    return this.in("waiting", "sent", "accepted").length === 0;
  }
}

/** What happened to a token that failed, as the report and the journal say it. */
export function reasonOf({
  requestId,
  code,
  message,
  errors,
  status,
}: BulkFailure & { requestId: string | null }): string {
  // Without a code, the journal of an earlier run had the whole reason.
  if (status !== null)
    return new ApiRefusal(status, code === null ? null : { error_code: code, message, errors }).message;
  if (code === null) return message;
  if (requestId === null) return `${code}: ${message}`;
  return [code, ...errors.map(({ field, message: problem }) => `${field}: ${problem}`)].join(" ");
}

export const NOT_KNOWN =
  "The service does not know this request, as after its restore from a backup. Look whether the collection has the token.";

/** The journal's entry for a step of the bulk mint. */
export function entryOf(step: BulkStep): MintEntry {
  switch (step.step) {
    case "send":
      return { entry: "batch", key: step.key, tokens: step.items, body: { items: step.bodies }, at: step.at };
    case "answer":
      return { entry: "results", key: step.key, results: [...step.results] };
    case "refuse":
      return { entry: "refused", key: step.key, message: reasonOf({ requestId: null, ...step.failure }) };
    case "settle":
      return { entry: "outcomes", outcomes: step.outcomes.map(({ index, outcome }) => writtenOf(index, outcome)) };
    case "again":
      return { entry: "again", tokens: step.items };
  }
}

function writtenOf(token: number, outcome: BulkItem): Outcome {
  switch (outcome.is) {
    case "completed":
      return { token, status: "completed", token_id: outcome.tokenId, error: null };
    case "failed":
      return { token, status: "failed", token_id: null, error: reasonOf(outcome) };
    case "unknown":
      return { token, status: "unknown", token_id: null, error: NOT_KNOWN };
    default:
      throw new Error(`${outcome.is} is not an outcome.`);
  }
}

/** The step of the bulk mint that an entry of the journal was written for. */
function stepOf(entry: MintEntry, minting: BulkProgress): BulkStep {
  switch (entry.entry) {
    case "batch":
      return { step: "send", key: entry.key, items: entry.tokens, bodies: entry.body.items, at: entry.at };
    case "results":
      return { step: "answer", key: entry.key, results: entry.results };
    case "refused":
      return { step: "refuse", key: entry.key, failure: failureOf(entry.message) };
    case "outcomes":
      return {
        step: "settle",
        outcomes: entry.outcomes.flatMap((outcome) => {
          const item = minting.items[outcome.token];
          if (item?.is !== "accepted") return [];
          return [{ index: outcome.token, outcome: outcomeOf(outcome, item.requestId) }];
        }),
      };
    case "again":
      return { step: "again", items: entry.tokens };
  }
}

function outcomeOf({ status, token_id: tokenId, error }: Outcome, requestId: string): BulkItem {
  if (status === "completed") return { is: "completed", requestId, tokenId };
  if (status === "unknown") return { is: "unknown", requestId };
  return { is: "failed", requestId, ...failureOf(error ?? "") };
}

function failureOf(message: string): BulkFailure {
  return { code: null, message, errors: [], status: null };
}
