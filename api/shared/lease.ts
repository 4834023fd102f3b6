/** How long leases last, in milliseconds. */
export interface LeaseTimes {
  /** A process that does not renew a lease for this long is replaced. */
  lasts: number;
  /** From one renewal to the next. */
  renewEvery: number;
}

/** A third of the time: two renewals may fail or be late. @param seconds LEASE_SECONDS. */
export function leaseTimes(seconds: number): LeaseTimes {
  return { lasts: seconds * 1000, renewEvery: (seconds * 1000) / 3 };
}

/**
 * Thrown when another process has taken over what a lease protects. What this process was about to write is out of
 * date.
 */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

interface Renewal {
  /** Extends the lease. A rejection means that this process must stop using it. */
  renew: () => Promise<void>;
  /** Milliseconds from one renewal to the next. */
  every: number;
}

/**
 * Runs `work` and renews its lease meanwhile, independent of how long each step of the work takes.
 * @param work gets a signal that aborts when `abort` does or when the lease is lost.
 * @returns what `work` returned, after the last renewal has ended.
 * @throws what ended the lease, once `work` has stopped; or else what `work` throws.
 */
export async function whileLeased<T>(
  { renew, every }: Renewal,
  abort: AbortSignal,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const renewing = new Set<Promise<void>>();
  const timer = setInterval(() => {
    // Renewals must not pile up while the database is slow.
    if (renewing.size > 0) return;
    const renewal = renew()
      .catch((error: unknown) => {
        lost.abort(error);
      })
      .finally(() => renewing.delete(renewal));
    renewing.add(renewal);
  }, every);
  try {
    return await work(AbortSignal.any([abort, lost.signal]));
  } finally {
    clearInterval(timer);
    await Promise.all(renewing);
    lost.signal.throwIfAborted();
  }
}
