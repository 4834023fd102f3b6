import { InvalidArgumentError } from "commander";

/** Parses `--limit`. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new InvalidArgumentError("Give a number from 1 to 10000.");
  return limit;
}
