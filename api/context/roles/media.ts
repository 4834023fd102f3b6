import type { Settings } from "../../config/settings.ts";
import { Pinner } from "../../content/copy/pinner.ts";
import { MediaWorker } from "../../content/copy/worker.ts";
import { MediaCollector } from "../../operate/media/collector.ts";
import { leaseTimes } from "../../shared/lease.ts";
import { needed } from "../keys.ts";
import type { NamedWorker, WorkerDeps } from "../workers.ts";

/** The workers of the role `media`. */
export function mediaWorkers(settings: Settings, deps: WorkerDeps): NamedWorker[] {
  const { database, signals, logger, metrics, now, content, lone } = deps;
  const { blocks, gateway } = content;
  const { mediaBytes: maxBytes, mediaSeconds } = settings.limits;
  const common = { database, blocks, logger, now, lease: leaseTimes(settings.leaseSeconds) };
  const copying = { agent: needed(content.agent), gateway, maxBytes, deadline: mediaSeconds * 1_000 };
  const media = new MediaWorker({ ...common, ...copying, lone, signals, metrics });
  const workers: NamedWorker[] = [{ name: "media", worker: media, critical: true }];
  if (settings.collectMediaHours > 0) {
    const every = settings.collectMediaHours * 3_600_000;
    workers.push({ name: "collecting", worker: new MediaCollector({ ...common, metrics, every }), critical: false });
  }
  if (settings.ipfsPinRpc !== null) {
    const pinner = new Pinner({ ...common, wake: signals.hosted, rpc: settings.ipfsPinRpc });
    workers.push({ name: "pins", worker: pinner, critical: false });
  }
  return workers;
}
