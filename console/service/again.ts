import { useEffect, useRef } from "preact/hooks";

/** Milliseconds. */
const OFTEN = 5_000;

/** Looks again while `when` holds and the page is visible. No event says what a request waits for. */
export function useAgain(when: boolean, look: () => void, every = OFTEN): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!when) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, every);
    return () => clearInterval(timer);
  }, [when, every]);
}
