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
  /** Files that this page has uploaded and that the body names. */
  uploads?: readonly Upload[];
}

/** A file that this page has uploaded. The same bytes always get the same URI. */
export interface Upload {
  uri: string;
  /** Its name on the disk of the person who uploaded it. */
  file: string;
}

const uploads = new Map<string, Upload>();

/** The last call that changed something. null: none yet. */
export const lastWrite = signal<RecordedCall | null>(null);

export function uploaded(upload: Upload): void {
  uploads.set(upload.uri, upload);
}

export function uploadsIn(body: string): Upload[] {
  return [...uploads.values()].filter(({ uri }) => body.includes(JSON.stringify(uri)));
}

export function recorded(call: RecordedCall): void {
  lastWrite.value = call;
}
