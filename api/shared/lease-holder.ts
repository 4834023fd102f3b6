import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** The holders of this process. */
const own = new Set<string>();
const place = placeOfProcess();

/** The name of a lease's holder: `<host>/<namespace of process ids>/<process id>/<random>`. */
export function newLeaseHolder(): string {
  const holder = [...place, process.pid.toString(), randomUUID()].join("/");
  own.add(holder);
  return holder;
}

/**
 * Whether the process that holds a lease has certainly ended: it ran on this host, and its process id is unused, or is
 * ours although we did not take the lease. Then the lease can be taken immediately, before it expires. If the answer is
 * wrong, the fencing token still keeps the old holder from writing.
 */
export function holderIsGone(holder: string): boolean {
  const pid = holder.split("/")[2];
  if (pid === undefined || !isHere(holder)) return false;
  if (Number(pid) === process.pid) return !own.has(holder);
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/**
 * Whether the process that has taken a job, and whose lease is over, has probably died. Of a process of another host only the lease
 * tells it. A process of this host that runs has only been too slow to renew its lease.
 */
export function hasDied(holder: string): boolean {
  return !isHere(holder) || holderIsGone(holder);
}

function isHere(holder: string): boolean {
  const [host, namespace] = holder.split("/");
  return host === place[0] && namespace === place[1];
}

/**
 * The host, and the namespace in which its process ids are unique: containers may share a host's name, and each may have a
 * process 1.
 */
function placeOfProcess(): [host: string, namespace: string] {
  const host = encodeURIComponent(hostname());
  try {
    return [host, encodeURIComponent(readlinkSync("/proc/self/ns/pid"))];
  } catch {
    // Only Linux has such namespaces.
    return [host, "-"];
  }
}
