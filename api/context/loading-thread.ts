import { Worker } from "node:worker_threads";

import { WriteTurns } from "../store/db/sqlite/write-turns.ts";

/** A thread that loads its code. It does nothing else before `startInThreads` tells it to. */
export interface LoadingThread {
  worker: Worker;
  /** Shared with the thread. */
  turns: WriteTurns;
}

/** What the thread gets when it starts. */
export interface ThreadData {
  turns: SharedArrayBuffer;
}

/** Whether a process with these roles has a thread for its background work, so that none of it delays an HTTP answer. */
export function hasPipelineThread(roles: readonly string[]): boolean {
  return roles.includes("api") && roles.length > 1;
}

/**
 * Begins to load the code of the background workers. Loading takes most of a start, and each thread loads for itself: so this
 * comes before everything else. What this file imports is little.
 * @param entry the file that the thread runs.
 */
export function loadThread(entry: URL): LoadingThread {
  const turns = new WriteTurns();
  const workerData: ThreadData = { turns: turns.shared };
  return { worker: new Worker(entry, { workerData }), turns };
}
