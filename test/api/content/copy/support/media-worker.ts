import pino from "pino";

import { MediaResults } from "../../../../../api/content/copy/media-results.ts";
import { MediaWorker } from "../../../../../api/content/copy/worker.ts";
import { leaseTimes } from "../../../../../api/shared/lease.ts";
import { NO_METRICS } from "../../../../../api/shared/metrics.ts";
import { Signal } from "../../../../../api/shared/signal.ts";

type Deps = ConstructorParameters<typeof MediaWorker>[0];

/** A worker that copies media of at most 1,000 bytes, with the one that changes the requests. @param media wakes the first. */
export function mediaWorker(
  parts: Pick<Deps, "database" | "blocks" | "agent"> & { now?: () => number; media?: Signal },
): Pick<MediaWorker, "run" | "lastError"> {
  const { now = Date.now, media = new Signal(), ...rest } = parts;
  const results = new Signal();
  const common = { logger: pino({ level: "silent" }), metrics: NO_METRICS, now };
  const worker = new MediaWorker({
    ...rest,
    ...common,
    ...{ gateway: null, maxBytes: 1_000, deadline: 60_000 },
    signals: { media, results, hosted: new Signal() },
    leaseTimes: leaseTimes(60),
  });
  const { database } = rest;
  const signals = { requests: new Signal(), deliveries: new Signal(), results };
  const changer = new MediaResults({ ...common, database, signals });
  return {
    async run(abort) {
      await Promise.all([worker.run(abort), changer.run(abort)]);
    },
    get lastError() {
      return worker.lastError;
    },
  };
}
