import { leaseTimes } from "../shared/lease.ts";
import { Presence, type PresenceDeps, type SharedRole } from "../store/db/presence.ts";

export type PresenceParts = Omit<PresenceDeps, "times" | "within">;

/**
 * Tells the other processes with this role that this one runs, and counts them.
 * @param opened ends it.
 */
export async function joinProcesses(
  role: SharedRole,
  { leaseSeconds }: { leaseSeconds: number },
  deps: PresenceParts,
  opened: AsyncDisposableStack,
): Promise<Presence> {
  const times = leaseTimes(leaseSeconds);
  // When the leases of a dead relayer expire, it must not count any more: nobody would take its lanes for good.
  const within = role === "relayer" ? times.lasts / 2 : times.lasts;
  const presence = new Presence(role, { ...deps, times, within });
  await presence.start();
  opened.defer(() => presence.stop());
  return presence;
}
