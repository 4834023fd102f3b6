import { parentPort, workerData } from "node:worker_threads";

import type { ThreadData } from "./context/loading-thread.ts";
import { runWorkersThread } from "./context/run-workers-thread.ts";

/** The thread of the background workers: every role but `api`. `context/workers-thread.ts` says when to begin and to end. */
if (parentPort === null) throw new Error("this file is run by api/main.ts, as a thread");
runWorkersThread(parentPort, workerData as ThreadData);
