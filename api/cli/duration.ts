import { InvalidArgumentError } from "commander";

const MINUTE = 60_000;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE };

/** @param text such as `90d`, `12h` or `30m`. @returns milliseconds, or null when it is not a duration. */
function parseDuration(text: string): number | null {
  const [, amount, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return amount === undefined ? null : Number(amount) * (UNITS[unit] ?? 0);
}

/** Parses an option that is a duration. @returns milliseconds. */
export function readDuration(text: string): number {
  const duration = parseDuration(text);
  if (duration === null) throw new InvalidArgumentError("Give a duration such as 90d, 12h or 30m.");
  return duration;
}

/** Parses an option that is a duration, or a plain number of minutes. @returns milliseconds. */
export function readMinutes(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) * MINUTE : readDuration(text);
}

/** Parses an option that is a point in time: a duration from now, or a date. @returns milliseconds since 1970. */
export function readEnd(text: string): number {
  const duration = parseDuration(text);
  const at = duration === null ? Date.parse(text) : Date.now() + duration;
  if (Number.isNaN(at)) {
    throw new InvalidArgumentError("Give a duration such as 90d, 12h or 30m, or a date such as 2030-01-31.");
  }
  if (at <= Date.now()) throw new InvalidArgumentError("This time is in the past.");
  return at;
}
