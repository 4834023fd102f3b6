import { Announcer } from "../../content/copy/announcer.ts";
import { Pinner } from "../../content/copy/pinner.ts";
import { MediaWorker } from "../../content/copy/worker.ts";
import { MediaCollector } from "../../operate/media/collector.ts";
import type { Context } from "../context.ts";
import { needed } from "../keys.ts";
import type { NamedWorker } from "../workers.ts";

/** The workers of the role `media`. */
export function mediaWorkers({ settings, content, signals, loneRuns, metrics, ...context }: Context): NamedWorker[] {
  const { database, logger, now, leaseTimes } = context;
  const common = { database, blocks: content.blocks, logger, now, leaseTimes };
  const media = new MediaWorker({
    ...common,
    agent: needed(content.agent),
    gateway: content.gateway,
    maxBytes: settings.limits.mediaBytes,
    deadline: settings.limits.mediaSeconds * 1_000,
    loneRuns,
    signals,
    metrics,
  });
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

/** The worker of the role `ipfs`. `content.ts` opens the node. */
export function ipfsWorkers({ content, database, signals, logger, now, leaseTimes }: Context): NamedWorker[] {
  if (content.ipfsNode === null) return [];
  const { announce } = content.ipfsNode;
  const announcer = new Announcer({ database, wake: signals.hosted, logger, now, leaseTimes, announce });
  return [{ name: "announcements", worker: announcer, critical: false }];
}
