import type { Environment } from "./settings.ts";

/** The environment of this process. No other file reads it. */
export function environment(): Environment {
  return process.env;
}

/** Makes these settings the environment of this process, for a command that goes on as the service: its threads read it again. */
export function becomeEnvironment(env: Environment): void {
  Object.assign(process.env, env);
}
