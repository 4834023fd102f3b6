import type { Settings } from "../../config/settings.ts";
import { leaseTimes } from "../../shared/lease.ts";
import { Dispatcher } from "../../webhooks/dispatcher.ts";
import { needed } from "../keys.ts";
import type { NamedWorker, WorkerDeps } from "../workers.ts";

/** The worker of the role `webhooks`. */
export function webhookWorkers(settings: Settings, deps: WorkerDeps): NamedWorker[] {
  const { database, logger, metrics, now, content } = deps;
  const lease = leaseTimes(settings.leaseSeconds);
  const [sealer, agent] = [needed(deps.keys.sealer), needed(content.agent)];
  const delivering = {
    database,
    sealer,
    agent,
    wake: deps.signals.deliveries,
    logger,
    metrics,
    now,
    lease,
    lone: deps.lone,
  };
  return [{ name: "webhooks", worker: new Dispatcher(delivering), critical: true }];
}
