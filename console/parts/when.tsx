import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { age, dateTime, ether } from "../service/format.ts";

const SECOND_MS = 1_000;
/** One clock for all ages on the page. It runs only while one of them is shown. */
const now = signal(Date.now());
let shown = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** How long ago something was. The exact time is in the title. */
export function Age({ time }: { time: string }) {
  useEffect(() => {
    shown++;
    now.value = Date.now();
    timer ??= setInterval(() => {
      now.value = Date.now();
    }, SECOND_MS);
    return () => {
      if (--shown > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return (
    <time dateTime={time} title={dateTime(time)}>
      {age(time, now.value)}
    </time>
  );
}

/** A point in time, such as an expiry. */
export function Moment({ time }: { time: string }) {
  return (
    <time dateTime={time} title={time}>
      {dateTime(time)}
    </time>
  );
}

/** An amount of wei. The exact amount is in the title. */
export function Ether({ wei }: { wei: string }) {
  return (
    <span class="short" title={`${wei} wei`}>
      {ether(wei)}
    </span>
  );
}
