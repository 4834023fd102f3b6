import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/** An empty folder outside the project. */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), "moneta-test-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
