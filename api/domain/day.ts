/** Days in UTC, as the number of days since 1970-01-01. */

const DAY = 86_400_000;

/** @param time in milliseconds since 1970. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY);
}

/** Seconds until the next day begins. */
export function secondsOfDayLeft(now: number): number {
  return Math.ceil((DAY - (now % DAY)) / 1_000);
}

/** The day as `2026-05-04`. */
export function dayText(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

/** @param text a valid date, such as `2026-05-04`. */
export function dayFrom(text: string): number {
  return dayOf(Date.parse(`${text}T00:00:00Z`));
}
