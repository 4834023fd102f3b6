import type { MessagePort, Worker } from "node:worker_threads";

import type { Measurements } from "../metrics/meter.ts";
import type { Signals } from "../shared/signal.ts";
import type { WorkerHealth } from "./workers.ts";

/** What the HTTP thread tells the pipeline thread. */
export type ToPipeline = { start: true } | { stop: true } | { health: number } | { metrics: number } | SignalRaised;

/** What the pipeline thread tells the HTTP thread. A failure has a sentence for the operator; without one it is a bug. */
export type FromPipeline =
  | { started: true }
  | { failed: { sentence: string | null; stack: string } }
  | { health: number; workers: WorkerHealth[] }
  | { metrics: number; measurements: Measurements }
  | { log: string }
  | SignalRaised;

interface SignalRaised {
  signal: keyof Signals;
}

/** Passes the signals that are raised in this thread to the other one. Those of one event-loop turn share a message. */
export function forwardSignals(signals: Signals, other: Pick<MessagePort | Worker, "postMessage">): void {
  const raised = new Set<keyof Signals>();
  for (const name of Object.keys(signals) as (keyof Signals)[]) {
    signals[name].forward = () => {
      if (raised.size === 0) {
        setImmediate(() => {
          for (const signal of raised) other.postMessage({ signal } satisfies SignalRaised);
          raised.clear();
        });
      }
      raised.add(name);
    };
  }
}
