import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

/** The name of this process in a lease: `<host>/<process id>/<random>`. */
export function newLeaseHolder(): string {
  return [encodeURIComponent(hostname()), process.pid.toString(), randomUUID()].join("/");
}

/**
 * Whether the process that holds a lease has certainly ended: it ran on this host, and its process id is unused or is
 * now ours. Then its lease can be taken immediately, before it expires. If the answer is wrong, the fencing token still
 * keeps the old holder from writing.
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
