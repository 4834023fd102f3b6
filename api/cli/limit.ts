import { InvalidArgumentError } from "commander";

/** For an option that takes how many lines to list. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) throw new InvalidArgumentError("Give 1 to 10000.");
  return limit;
}
