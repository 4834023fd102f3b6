import { leaseTimes } from "../shared/lease.ts";
import { Presence, type PresenceDeps } from "../store/db/presence.ts";

/**
 * Tells the other API processes of the installation that this one runs.
 * @param opened ends it.
 * @returns counts the API processes, for what they share.
 */
export async function joinApiProcesses(
  { leaseSeconds }: { leaseSeconds: number },
  { database, logger, now }: Omit<PresenceDeps, "times">,
  opened: AsyncDisposableStack,
): Promise<() => number> {
  const presence = new Presence("api", { database, logger, now, times: leaseTimes(leaseSeconds) });
  await presence.start();
  opened.defer(() => presence.stop());
  return () => presence.count;
}
