import { Writable } from "node:stream";

import { NO_METRICS } from "../../../api/shared/metrics.ts";
import { Signal } from "../../../api/shared/signal.ts";
import { EventStreams, type EventStreamsDeps } from "../../../api/v1/streams/event-streams.ts";

/** What the parts of a `TestApi` report to it. It is set before the first call. */
interface State {
  api?: { notified: number; streamed: number; deliveriesDue: () => void };
}

/** Serves the event streams. Only polling finds events, as it finds those of other processes. */
export function runStreams(state: State, deps: Omit<EventStreamsDeps, "stored" | "metrics">) {
  const streamed = (events: number) => {
    if (state.api !== undefined) state.api.streamed += events;
  };
  const streams = new EventStreams({ ...deps, stored: new Signal(), metrics: { ...NO_METRICS, streamed } });
  const stopping = new AbortController();
  const running = streams.run(stopping.signal);
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { streams, stop };
}

/** What the app notifies, counted and passed on by the `TestApi`. */
export function signalsOf(state: State) {
  return {
    requests: {
      notify: () => {
        if (state.api !== undefined) state.api.notified += 1;
      },
    },
    deliveries: {
      notify: () => {
        state.api?.deliveriesDue();
      },
    },
    media: { notify: () => undefined },
    contracts: { notify: () => undefined },
  };
}

/** Appends each line of the log to `lines`. */
export function sinkOf(lines: string[]): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
}
