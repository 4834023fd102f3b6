import { signal } from "@preact/signals";

/** A call of the API that this page has made, or that a screen offers. */
export interface RecordedCall {
  method: string;
  /** As in the OpenAPI document: `/v1/collections/{address}`. */
  path: string;
  pathParams?: Record<string, unknown>;
  query?: Record<string, unknown>;
  /** Absent: the call has no body. */
  body?: unknown;
  /** The body is a file, which the copied command reads from this path. */
  file?: string;
}

/** The last call that changed something. null: none yet. */
export const lastWrite = signal<RecordedCall | null>(null);

export function recorded(call: RecordedCall): void {
  lastWrite.value = call;
}
