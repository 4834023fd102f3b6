import { parentPort, workerData } from "node:worker_threads";

/** A call that is made again and again. */
export interface RepeatedCall {
  url: string;
  init: RequestInit;
  /** Calls of a round. */
  count: number;
}

/** Few, because a connection that is kept alive may keep its last call. */
const CONNECTIONS = 4;

// In a thread of its own, what a caller allocates is not in the heap of the service. Each message asks for a round.
const { url, init, count } = workerData as RepeatedCall;
parentPort?.on("message", () => {
  const callOften = async () => {
    for (let call = 0; call < count / CONNECTIONS; call++) await (await fetch(url, init)).text();
  };
  void Promise.all(Array.from({ length: CONNECTIONS }, callOften)).then(() => parentPort?.postMessage("done"));
});
