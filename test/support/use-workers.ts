import type { Database } from "../../api/store/db/database.ts";
import { eventually } from "./eventually.ts";

interface Worker {
  run: (abort: AbortSignal) => Promise<void>;
}

export interface Workers {
  /** The same database. It counts the reads of a worker, which looks for work again and again. */
  watched: (database: Database) => Database & { reads: () => number };
  /** Runs a worker until `stop`, or until the test ends. */
  start: (worker: Worker, reads: () => number) => { stop: () => Promise<void>; looked: () => Promise<void> };
  /** Stops all of them. */
  stop: () => Promise<void>;
}

/** Background workers of a test. Registers the hook that stops them: to be called before hooks that close their database. */
export function useWorkers(): Workers {
  const running: (() => Promise<void>)[] = [];
  const stopAll = async () => {
    for (const stop of running.splice(0)) await stop();
  };
  afterEach("stop the workers", stopAll);
  return {
    watched: (database) => {
      let count = 0;
      return {
        ...database,
        get read() {
          count += 1;
          return database.read;
        },
        reads: () => count,
      };
    },
    start: (worker, reads) => {
      const abort = new AbortController();
      const ended = worker.run(abort.signal);
      const stop = async () => {
        abort.abort();
        await ended;
      };
      running.push(stop);
      /** Waits until it has looked a few more times for work. */
      const looked = async () => {
        const before = reads();
        await eventually(() => Promise.resolve(reads() > before + 3 || undefined));
      };
      return { stop, looked };
    },
    stop: stopAll,
  };
}
