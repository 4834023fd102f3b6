import { InvalidArgumentError } from "commander";

const HOUR = 3_600_000;

/** @param text `90d` or `12h`. @returns milliseconds, or null when it is no duration. */
function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  return amount === undefined ? null : Number(amount) * (unit === "d" ? 24 * HOUR : HOUR);
}

/** For an option that takes how long something lasts. @returns milliseconds. */
export function readDuration(text: string): number {
  const duration = parseDuration(text);
  if (duration === null) throw new InvalidArgumentError("Give a duration such as 90d or 12h.");
  return duration;
}

/** For an option that takes when something ends: after a duration, or at a date. @returns milliseconds since 1970. */
export function readEnd(text: string): number {
  const duration = parseDuration(text);
  const at = duration === null ? Date.parse(text) : Date.now() + duration;
  if (Number.isNaN(at)) throw new InvalidArgumentError("Give a duration such as 90d or 12h, or a date.");
  if (at <= Date.now()) throw new InvalidArgumentError("That is in the past.");
  return at;
}
