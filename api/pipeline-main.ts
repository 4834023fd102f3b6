import { parentPort, workerData } from "node:worker_threads";

import { environment } from "./config/environment.ts";
import type { ThreadData } from "./context/loading-thread.ts";
import { runPipeline } from "./context/run-pipeline.ts";

/** The thread of the background workers: every role but `api`. `api/main.ts` starts it and says when to begin and to end. */
if (parentPort === null) throw new Error("this file is run by api/main.ts, as a thread");
await runPipeline(environment(), parentPort, workerData as ThreadData);
