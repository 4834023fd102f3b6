import { join } from "node:path";

import type { Run } from "./run.ts";
import type { FolderToken, MediaFile } from "./token.ts";

/** Uploads at a time, and the bytes that they have together. They share the line, and the service gives up each that is slower than `UPLOAD_PACE`. */
const UPLOADS = 6;
const UPLOAD_BYTES = 16_777_216;
/** An upload that no metadata names is kept for a week at least. One that is older than a day is repeated. */
const UPLOAD_LASTS = 86_400_000;

/** Uploads the files of the tokens whose batch was not answered, or not sent. */
export async function uploadAll(run: Run): Promise<void> {
  const { plan, state, service } = run;
  const needed = new Set(state.in("waiting", "sent").flatMap((token) => filesOf(plan.tokens[token])));
  const files = plan.files.filter(({ sha256 }) => needed.has(sha256));
  const left = files.filter(({ sha256 }) => run.now() - (state.uploads.get(sha256)?.at ?? 0) > UPLOAD_LASTS);
  let done = files.length - left.length;
  await bounded(left, async (file) => {
    const uri = await service.upload(join(run.folder, file.file), file);
    const entry = { entry: "upload" as const, sha256: file.sha256, uri, at: run.now() };
    await run.journal.append(entry);
    state.apply(entry);
    run.show("uploaded", ++done, files.length);
  });
}

/** Works on several files at a time. A file above the bound goes alone. After an error no further file begins. */
async function bounded(files: readonly MediaFile[], work: (file: MediaFile) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  let bytes = 0;
  const begin = (file: MediaFile) => {
    bytes += file.bytes;
    const job = work(file)
      .catch((error: unknown) => errors.push(error))
      .then(() => {
        bytes -= file.bytes;
        running.delete(job);
      });
    running.add(job);
  };
  for (const file of files) {
    while (running.size > 0 && (running.size >= UPLOADS || bytes + file.bytes > UPLOAD_BYTES)) {
      await Promise.race(running);
    }
    if (errors.length > 0) break;
    begin(file);
  }
  // The journal stays open until the uploads in progress have ended.
  await Promise.all(running);
  if (errors.length > 0) throw errors[0];
}

function filesOf(token: FolderToken | undefined): string[] {
  return Object.values<{ sha256: string }>(token?.media ?? {}).map(({ sha256 }) => sha256);
}
