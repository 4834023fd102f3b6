import { Dispatcher } from "../../webhooks/dispatcher.ts";
import type { Context } from "../context.ts";
import { needed } from "../keys.ts";
import type { NamedWorker } from "../workers.ts";

/** The worker of the role `webhooks`. */
export function webhookWorkers({ database, keys, content, signals, ...context }: Context): NamedWorker[] {
  const { logger, metrics, now, leaseTimes, loneRuns } = context;
  const [sealer, agent, wake] = [needed(keys.sealer), needed(content.agent), signals.deliveries];
  const worker = new Dispatcher({ database, sealer, agent, wake, logger, metrics, now, leaseTimes, loneRuns });
  return [{ name: "webhooks", worker, critical: true }];
}
