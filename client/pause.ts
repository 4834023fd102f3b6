/** Waits. @throws the signal's reason as soon as it aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      // The reason is the caller's own, whatever it is.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * The result of the work, or the signal's reason as soon as it aborts. The work's own signal is not enough: a `Request`
 * follows its signal by a weak reference only, which a garbage collection can end.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const race = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = () => {
      // The reason is the caller's own, whatever it is.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(signal.reason);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true, signal: race.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    race.abort();
  }
}
