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

/** How many uploads are remembered: the newest ones. A batch of tokens has no more. */
const UPLOADS = 1_000;
const uploads = new Map<string, Upload>();

/** The last call that changed something. null: none yet. */
export const lastWrite = signal<RecordedCall | null>(null);

export function uploaded(upload: Upload): void {
  uploads.delete(upload.uri);
  uploads.set(upload.uri, upload);
  const [oldest] = uploads.keys();
  if (uploads.size > UPLOADS && oldest !== undefined) uploads.delete(oldest);
}

/** The uploads that a JSON body names, each once. */
export function uploadsIn(body: string): Upload[] {
  const uris = new Set([...body.matchAll(/"(ipfs:\/\/[^"\\]+)"/g)].map(([, uri = ""]) => uri));
  return [...uris].flatMap((uri) => uploads.get(uri) ?? []);
}

export function recorded(call: RecordedCall): void {
  lastWrite.value = call;
}
