import type { Environment } from "./settings.ts";

/** The environment of this process. No other file reads it. */
export function environment(): Environment {
  return process.env;
}
