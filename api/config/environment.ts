import type { Environment } from "./settings.ts";

/** The environment of this process: read here and nowhere else. */
export function environment(): Environment {
  return process.env;
}
