import type { Settings } from "../../config/settings.ts";
import { Pinner } from "../../content/copy/pinner.ts";
import { MediaWorker } from "../../content/copy/worker.ts";
import { MediaCollector } from "../../operate/media/collector.ts";
import { leaseTimes } from "../../shared/lease.ts";
import { needed } from "../keys.ts";
import type { NamedWorker, WorkerDeps } from "../workers.ts";

/** Milliseconds between two deletions of media that nothing uses. */
const COLLECT_EVERY = 86_400_000;

/** The workers of the role `media`. */
export function mediaWorkers(settings: Settings, deps: WorkerDeps): NamedWorker[] {
  const { database, signals, logger, metrics, now, content, lone } = deps;
  const { blocks, gateway } = content;
  const { mediaBytes: maxBytes, mediaSeconds } = settings.limits;
  const common = { database, blocks, logger, now, lease: leaseTimes(settings.leaseSeconds) };
  const copying = { agent: needed(content.agent), gateway, maxBytes, deadline: mediaSeconds * 1_000 };
  const media = new MediaWorker({ ...common, ...copying, lone, signals, metrics });
  const workers: NamedWorker[] = [
    { name: "media", worker: media, critical: true },
    { name: "collecting", worker: new MediaCollector({ ...common, metrics, every: COLLECT_EVERY }), critical: false },
  ];
  if (settings.ipfsPinRpc !== null) {
    const pinner = new Pinner({ ...common, wake: signals.hosted, rpc: settings.ipfsPinRpc });
    workers.push({ name: "pins", worker: pinner, critical: false });
  }
  return workers;
}
