import { parentPort, workerData } from "node:worker_threads";

import { callFrom } from "../../../../scripts/scene/callers.ts";

/** What the thread is started with. */
interface Flood {
  url: string;
  pages: { path: string; token: string }[];
  callers: number;
}

const { url, pages, callers } = workerData as Flood;
/** Of each caller. The test ends the thread long before. */
const MOST_CALLS = 10_000;

async function callAgainAndAgain(page: Flood["pages"][number]): Promise<void> {
  for (let calls = 0; calls < MOST_CALLS; calls++) await callFrom(url, { method: "GET", ...page });
}

for (const page of pages) {
  for (let caller = 0; caller < callers; caller++) void callAgainAndAgain(page);
}
parentPort?.postMessage("sent");
