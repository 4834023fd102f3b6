import type { Settings } from "../../config/settings.ts";
import { Announcer } from "../../content/copy/announcer.ts";
import { leaseTimes } from "../../shared/lease.ts";
import type { NamedWorker, WorkerDeps } from "../workers.ts";

/** The worker of the role `ipfs`. `content.ts` opens the node. */
export function ipfsWorkers(settings: Settings, deps: WorkerDeps): NamedWorker[] {
  const { database, signals, logger, now, content } = deps;
  if (content.ipfsNode === null) return [];
  const announcing = { database, wake: signals.hosted, logger, now, lease: leaseTimes(settings.leaseSeconds) };
  const announcer = new Announcer({ ...announcing, announce: content.ipfsNode.announce });
  return [{ name: "announcements", worker: announcer, critical: false }];
}
