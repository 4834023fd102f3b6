import { Worker } from "node:worker_threads";

import type { Role } from "../config/variables.ts";
import { WriteTurns } from "../store/db/sqlite/write-turns.ts";

/** The thread of the background workers, while it loads its code. `WorkersThread` starts the work. */
export interface LoadingThread {
  worker: Worker;
  /** Shared with the thread. */
  turns: WriteTurns;
}

/** What the thread gets when it is made. */
export interface ThreadData {
  turns: SharedArrayBuffer;
  /** The roles whose code it loads; null: all but `api`. */
  roles: readonly Role[] | null;
}

/**
 * Begins to load the code of the background workers. Loading takes most of a start, and each thread loads for itself: so this
 * comes before everything else. What this file imports is little.
 */
export function loadThread(roles: ThreadData["roles"]): LoadingThread {
  const turns = new WriteTurns();
  const workerData: ThreadData = { turns: turns.shared, roles };
  return { worker: new Worker(new URL("../workers-main.ts", import.meta.url), { workerData }), turns };
}
