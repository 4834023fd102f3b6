import { leaseTimes } from "../shared/lease.ts";
import { Presence, type PresenceDeps } from "../store/db/presence.ts";

export type PresenceParts = Omit<PresenceDeps, "times" | "within">;

/**
 * Tells the other API processes of the installation that this one runs.
 * @param opened ends it.
 * @returns counts the API processes, for what they share.
 */
export async function joinApiProcesses(
  { leaseSeconds }: { leaseSeconds: number },
  deps: PresenceParts,
  opened: AsyncDisposableStack,
): Promise<() => number> {
  const presence = await join(new Presence("api", { ...deps, times: leaseTimes(leaseSeconds) }), opened);
  return () => presence.count;
}

/** The same for the relayers, which share the lanes. */
export async function joinRelayers(
  { leaseSeconds }: { leaseSeconds: number },
  deps: PresenceParts,
  opened: AsyncDisposableStack,
): Promise<Presence> {
  const times = leaseTimes(leaseSeconds);
  // When the leases of a dead relayer expire, it must not count any more: nobody would take its lanes for good.
  return join(new Presence("relayer", { ...deps, times, within: times.lasts / 2 }), opened);
}

/** For a process with neither role: a migration must know of every process. */
export async function joinOthers(
  { leaseSeconds }: { leaseSeconds: number },
  deps: PresenceParts,
  opened: AsyncDisposableStack,
): Promise<void> {
  await join(new Presence("other", { ...deps, times: leaseTimes(leaseSeconds) }), opened);
}

async function join(presence: Presence, opened: AsyncDisposableStack): Promise<Presence> {
  await presence.start();
  opened.defer(() => presence.stop());
  return presence;
}
