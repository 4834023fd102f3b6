/** Thrown when another process has taken over what a lease protects. Anything this process was about to write is out of date. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

export interface Renewal {
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
  let renewing: Promise<void> | null = null;
  const timer = setInterval(() => {
    // A slow database must not collect renewals.
    renewing ??= renew()
      .catch((error: unknown) => {
        lost.abort(error);
      })
      .finally(() => {
        renewing = null;
      });
  }, every);
  try {
    return await work(AbortSignal.any([abort, lost.signal]));
  } finally {
    clearInterval(timer);
    await renewing;
    lost.signal.throwIfAborted();
  }
}
