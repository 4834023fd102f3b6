/** Waits, or less when aborted. Only for backing off: what can be waited for as an event is a `Signal`. */
export function pause(milliseconds: number, abort: AbortSignal): Promise<void> {
  if (abort.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      abort.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    abort.addEventListener("abort", done, { once: true });
  });
}
