import { AdaptiveSize, GROWS_AT_ONCE } from "../../shared/adaptive-size.ts";
import type { Entry, Outcome, Result, SentBatch, Start } from "./journal.ts";

/** A state of a token in the drop. */
export type TokenState =
  | { is: "waiting" }
  /** In a batch whose answer is not known. */
  | { is: "sent"; key: string }
  | { is: "accepted"; requestId: string }
  | { is: "refused"; error: string }
  | ({ is: "final"; requestId: string } & Outcome);

/** Refused for lack of room, for now. The token goes into another batch. */
const TEMPORARY = ["unavailable", "quota_exceeded"];

function isTemporary({ error_code: code }: Result): boolean {
  return code !== undefined && TEMPORARY.includes(code);
}

/** What a drop has done so far: its journal, read from the first entry to the last. */
export class DropState {
  readonly tokens: TokenState[];
  readonly uploads = new Map<string, { uri: string; at: number }>();
  readonly batches = new Map<string, SentBatch>();
  start: Start | null = null;
  /** Most tokens of the next batch. Smaller after a batch that was refused, so that the token that is the reason is found. */
  readonly batchSize = new AdaptiveSize(Infinity, GROWS_AT_ONCE);

  constructor(count: number, entries: readonly Entry[] = []) {
    this.tokens = Array.from({ length: count }, () => ({ is: "waiting" }));
    for (const entry of entries) this.apply(entry);
  }

  apply(entry: Entry): void {
    switch (entry.entry) {
      case "start":
        this.start = entry;
        return;
      case "upload":
        this.uploads.set(entry.sha256, entry);
        return;
      case "batch":
        this.batches.set(entry.key, entry);
        for (const token of entry.tokens) this.tokens[token] = { is: "sent", key: entry.key };
        return;
      case "refused":
        this.#applyRefused(entry);
        return;
      case "results":
        this.batchSize.accepted(entry.results.length);
        entry.results.forEach((result, index) => {
          const token = this.batches.get(entry.key)?.tokens[index];
          if (token !== undefined) this.tokens[token] = stateOf(result);
        });
        return;
      case "outcomes":
        for (const outcome of entry.outcomes) {
          const now = this.tokens[outcome.token];
          if (now?.is === "accepted")
            this.tokens[outcome.token] = { is: "final", requestId: now.requestId, ...outcome };
        }
        return;
      case "again":
        for (const token of entry.tokens) this.tokens[token] = { is: "waiting" };
    }
  }

  #applyRefused({ key, message }: Extract<Entry, { entry: "refused" }>): void {
    const tokens = this.batches.get(key)?.tokens ?? [];
    this.batchSize.refused(tokens.length);
    for (const token of tokens) {
      this.tokens[token] = tokens.length === 1 ? { is: "refused", error: message } : { is: "waiting" };
    }
  }

  /** Positions of the tokens in one of these states. */
  in(...states: TokenState["is"][]): number[] {
    return this.tokens.flatMap(({ is }, index) => (states.includes(is) ? [index] : []));
  }

  /** Batches that were written down, and whose answer is not known. */
  unanswered(): SentBatch[] {
    const keys = new Set(this.tokens.flatMap((token) => (token.is === "sent" ? [token.key] : [])));
    return [...this.batches.values()].filter(({ key }) => keys.has(key));
  }

  get finished(): boolean {
    return this.in("waiting", "sent", "accepted").length === 0;
  }

  /** Tokens of which only the collection can say whether they were minted. */
  unknown(): number[] {
    return this.tokens.flatMap((token, index) => (token.is === "final" && token.status === "unknown" ? [index] : []));
  }

  /** Tokens that were not minted, and will not be unless someone asks for it. */
  failed(): number[] {
    return this.tokens.flatMap((token, index) =>
      token.is === "refused" || (token.is === "final" && token.status === "failed") ? [index] : [],
    );
  }
}

function stateOf(result: Result): TokenState {
  if (result.request_id !== undefined) return { is: "accepted", requestId: result.request_id };
  if (isTemporary(result)) return { is: "waiting" };
  return { is: "refused", error: `${result.error_code ?? "refused"}: ${result.message ?? ""}` };
}
