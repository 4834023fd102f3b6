import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

/** Names this process in a lease: `<host>/<process id>/<random>`. */
export function newLeaseHolder(): string {
  return [encodeURIComponent(hostname()), process.pid.toString(), randomUUID()].join("/");
}

/**
 * Whether the process of a lease has certainly ended: it ran on this host, and its id is free again or is our own. Then
 * its lane need not wait for the lease to run out. A wrong "yes" would cost no correctness: the fence shuts it out.
 */
export function holderIsGone(holder: string): boolean {
  const [host, pid] = holder.split("/");
  if (host !== encodeURIComponent(hostname()) || pid === undefined) return false;
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
