import { join } from "node:path";

import { wholeNumber } from "../../api/config/parsers.ts";
import { type Environment, parseSettings, type Settings, SettingsError } from "../../api/config/settings.ts";

/** What `npm start` lets its caller choose. */
export interface StartOptions {
  port: number;
  rpcPort: number;
  dataDir: string;
  tour: boolean;
}

const DEFAULTS = { PORT: "3000", RPC_PORT: "8545", DATA_DIR: "data/local", TOUR: "1" };

/**
 * Everything else in the environment is left alone: a demonstration must not touch the database, the keys or the chain
 * of an installation.
 * @throws SettingsError
 */
export function readOptions(env: Environment): StartOptions {
  const problems: string[] = [];
  const text = (variable: keyof typeof DEFAULTS) => env[variable]?.trim() || DEFAULTS[variable];
  const port = (variable: "PORT" | "RPC_PORT") => {
    const parsed = wholeNumber(0, 65_535).safeParse(text(variable));
    if (!parsed.success) problems.push(`${variable} ${parsed.error.issues[0]?.message ?? "is wrong"}`);
    return parsed.data ?? 0;
  };
  const options = {
    port: port("PORT"),
    rpcPort: port("RPC_PORT"),
    dataDir: text("DATA_DIR"),
    tour: text("TOUR") !== "0",
  };
  if (!["0", "1"].includes(text("TOUR"))) problems.push("TOUR must be 0 or 1");
  if (problems.length > 0) throw new SettingsError(problems);
  return options;
}

/** The service's settings: its defaults, against the local chain, with contracts of its own. */
export function serviceSettings(options: StartOptions, rpcUrl: string): Settings {
  return parseSettings({
    PORT: options.port.toString(),
    DATA_DIR: options.dataDir,
    DEPLOYMENTS_DIR: join(options.dataDir, "deployments"),
    RPC_URL: rpcUrl,
  });
}
