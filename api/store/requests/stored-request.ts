import type { Command } from "../../domain/command.ts";
import type { FieldError, RequestFailureCode } from "../../domain/error-codes.ts";
import type { ChainOutcome } from "../../domain/outcome.ts";
import { parseExact } from "../../shared/exact-json.ts";
import type { RequestChange } from "../../shared/metrics.ts";
import type { RequestRow } from "../db/schema.ts";

/** A request as everybody outside this wing sees it: its row, with the texts of the row parsed once. */
export interface StoredRequest extends Omit<RequestRow, "command" | "number" | "outcome" | "error_code" | "errors"> {
  command: Command;
  /** The number that the relay runs at most once; null until the first claim. */
  number: bigint | null;
  outcome: ChainOutcome | null;
  error_code: RequestFailureCode | null;
  errors: FieldError[] | null;
}

/** A request that was claimed at least once, so it has its number. */
export type NumberedRequest = StoredRequest & { number: bigint };

/** A request together with what its call did on chain. */
export interface SettledRequest<R extends StoredRequest = StoredRequest> {
  request: R;
  outcome: ChainOutcome;
}

/** What is counted and traced of requests that became final. @param stepSeconds how long storing it took */
export function finalChanges(settled: readonly SettledRequest[], now: number, stepSeconds = 0): RequestChange[] {
  return settled.map(({ request, outcome }) => ({
    id: request.id,
    type: request.type,
    status: outcome.ok ? "completed" : "failed",
    errorCode: outcome.ok ? null : outcome.errorCode,
    seconds: (now - request.created_at) / 1_000,
    stepSeconds,
  }));
}

/** Parses a row. This is the only place that reads the JSON columns of `requests`. */
export function toRequest(row: RequestRow): StoredRequest {
  return {
    ...row,
    command: toCommand(row.command),
    number: row.number === null ? null : BigInt(row.number),
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as ChainOutcome),
    error_code: row.error_code as RequestFailureCode | null,
    errors: row.errors === null ? null : (JSON.parse(row.errors) as FieldError[]),
  };
}

/** @throws Error when the request has no number, although it was claimed. */
export function toNumberedRequest(row: RequestRow): NumberedRequest {
  const request = toRequest(row);
  if (request.number === null) throw new Error(`request ${row.id} was claimed but has no number`);
  return { ...request, number: request.number };
}

/** Metadata inside a command may hold numbers that a JavaScript number would round. */
export function toCommand(text: string): Command {
  return parseExact(text) as Command;
}
