import { parentPort, workerData } from "node:worker_threads";

import { callFrom } from "../../../../scripts/scene/callers.ts";

/** What the thread is started with. `counter`: counts the answers. */
interface Flood {
  url: string;
  pages: { path: string; token: string }[];
  calls: number;
  counter: Int32Array;
}

/** Asks for all pages at once, `calls` times each. */
const { url, pages, calls, counter } = workerData as Flood;
for (const page of pages) {
  for (let call = 0; call < calls; call++) {
    void callFrom(url, { method: "GET", ...page }).then(() => Atomics.add(counter, 0, 1));
  }
}
parentPort?.postMessage("sent");
