import type { RequestFailureCode } from "../domain/error-codes.ts";
import type { PrunedKind } from "../domain/retention.ts";
import type { RequestStatus, RequestType } from "../domain/request.ts";

/** A request entered a status. `pending` means that it was accepted. */
export interface RequestChange {
  /** For traces only. */
  id: string;
  type: RequestType;
  status: RequestStatus;
  /** Why it failed; null in the other statuses. */
  errorCode: RequestFailureCode | null;
  /** Seconds since it was accepted. */
  seconds: number;
  /** Seconds that the last step took, which brought it there. For traces only. */
  stepSeconds?: number;
}

/** The trace of an HTTP call, while it is served. Nobody but the traces looks inside. */
export type CallTrace = object;

/** How a call of the node ended. `error`: the node answered with an error, as for a call that reverts. */
export type RpcOutcome = "ok" | "error" | "rate_limited" | "refused" | "unavailable";
/** How a try to deliver a webhook ended. `gone`: the receiver answered 410. */
export type WebhookOutcome = "delivered" | "refused" | "gone" | "no_answer";
/** How a try to copy a request's media ended. */
export type MediaOutcome = "copied" | "retried" | "failed";
/** `statement`: one SQL statement. `write`: a write from its call to its commit, with all its waits. */
type DatabaseOperation = "statement" | "write";

export interface HttpAnswer {
  method: string;
  /** Template of the route, never the path. */
  route: string;
  /** `aborted`: the caller closed the connection before the answer was complete. */
  status: number | "aborted";
  seconds: number;
  /** What `serving` returned. */
  trace: CallTrace | null;
}

/**
 * What the parts of the service measure and trace. Each part gets it injected. Only values from a fixed set are passed as
 * names: never an app, a wallet, a token or an address. Traces also get the id of a request; a metric never does.
 */
export interface Metrics {
  /** Call it after the commit: a write may run several times. */
  requests(changes: readonly RequestChange[]): void;
  /** A batch was committed. @param items its requests. */
  batch(items: number): void;
  /** A batch is in a block. @param gas what its transaction used. */
  batchGas(gas: number): void;
  /** Blocks were rolled back. @param depth how many. */
  reorg(depth: number): void;
  /** @param method the method, or `batch` for calls of several methods. */
  rpc(method: string, outcome: RpcOutcome, seconds: number): void;
  /** Of the check of receipts: whether a node's answers contradict them, and whether blocks are stored without it. */
  receipts(conditions: { differ: boolean; unproven: boolean }): void;
  /** @param event the JSON text that was sent. For traces only, as the id of the request below. */
  webhook(outcome: WebhookOutcome, seconds: number, event: string): void;
  media(outcome: MediaOutcome, seconds: number, requestId: string): void;
  http(answer: HttpAnswer): void;
  database(operation: DatabaseOperation, seconds: number): void;
  /** @param open event streams that are open now. */
  streams(open: number): void;
  /** Events were sent in a stream. */
  streamed(events: number): void;
  pruned(kind: PrunedKind, rows: number): void;
  /** Unused media were deleted. */
  collected(blocks: number, bytes: number): void;
  /**
   * Serves an HTTP call by `next`. Its trace then knows which requests the call made.
   * @param traceparent the caller's W3C header
   */
  serving(traceparent: string | undefined, next: () => void): CallTrace | null;
  /** Does a step of the pipeline for these requests. A trace shows the step, with the calls of the node inside it. */
  step<T>(name: "batch" | "build" | "broadcast", requestIds: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** Without traces, work is only done. */
export const UNTRACED: Pick<Metrics, "serving" | "step"> = {
  serving: (_, next) => {
    next();
    return null;
  },
  step: (_name, _ids, work) => work(),
};

/** Counts nothing: for commands, and for a service without METRICS_PORT. */
export const NO_METRICS: Metrics = {
  requests: () => undefined,
  batch: () => undefined,
  batchGas: () => undefined,
  reorg: () => undefined,
  rpc: () => undefined,
  receipts: () => undefined,
  webhook: () => undefined,
  media: () => undefined,
  http: () => undefined,
  database: () => undefined,
  streams: () => undefined,
  streamed: () => undefined,
  pruned: () => undefined,
  collected: () => undefined,
  ...UNTRACED,
};

/** Seconds since a time of `performance.now()`. */
export function secondsSince(started: number): number {
  return (performance.now() - started) / 1_000;
}
