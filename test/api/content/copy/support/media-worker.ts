import pino from "pino";

import { MediaWorker } from "../../../../../api/content/copy/worker.ts";
import { leaseTimes } from "../../../../../api/shared/lease.ts";
import { NO_METRICS } from "../../../../../api/shared/metrics.ts";
import { Signal } from "../../../../../api/shared/signal.ts";

type Deps = ConstructorParameters<typeof MediaWorker>[0];

/** A worker that copies media of at most 1,000 bytes. @param media wakes it. */
export function mediaWorker(
  parts: Pick<Deps, "database" | "blocks" | "agent"> & { now?: () => number; media?: Signal },
): MediaWorker {
  const { now = Date.now, media = new Signal(), ...rest } = parts;
  return new MediaWorker({
    ...rest,
    ...{ gateway: null, maxBytes: 1_000, deadline: 60_000 },
    signals: { requests: new Signal(), deliveries: new Signal(), media, hosted: new Signal() },
    logger: pino({ level: "silent" }),
    metrics: NO_METRICS,
    now,
    lease: leaseTimes(60),
  });
}
