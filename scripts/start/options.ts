import { join } from "node:path";

import { assignments } from "../../api/config/command-line.ts";
import { wholeNumber } from "../../api/config/parsers.ts";
import {
  defaultDatabase,
  type Environment,
  parseSettings,
  type Settings,
  SettingsError,
} from "../../api/config/settings.ts";
import { settingsLine, startFile } from "../../api/config/settings-file.ts";
import { replaceFile } from "../../api/shared/write-new-file.ts";
import { Problem } from "./problem.ts";

/** What the variables and the arguments of `npm start` decide. */
export interface StartOptions {
  port: number;
  rpcPort: number;
  /** Port of /metrics. null: not set, so that the usual one or the next free one is used. */
  metricsPort: number | null;
  dataDir: string;
  tour: boolean;
  /** Begin anew, although data are there. */
  fresh: boolean;
  /** Show each request and transaction of the tour. */
  verbose: boolean;
}

/** Where Prometheus looks for most exporters of this kind. */
export const USUAL_METRICS_PORT = 9464;

const DEFAULTS = { PORT: "3000", RPC_PORT: "8545", DATA_DIR: "data/local", TOUR: "1" };

const FLAGS = ["--fresh", "--verbose"];
const USAGE =
  "`npm start -- --fresh` begins with an empty chain, `npm start -- --verbose` shows each request of the tour. Variables set the rest.";

/**
 * Reads nothing else from the environment: a trial must not touch the database, the keys or the chain of an installation.
 * @param args the arguments after `npm start --`.
 * @throws SettingsError, Problem
 */
export function readOptions(env: Environment, args: readonly string[]): StartOptions {
  const unknown = args.filter((argument) => !FLAGS.includes(argument));
  if (unknown.length > 0) throw new Problem(`npm start does not know ${unknown.join(" ")}. ${USAGE}`);
  const problems: string[] = [];
  const text = (variable: keyof typeof DEFAULTS) => env[variable]?.trim() || DEFAULTS[variable];
  const metricsText = env["METRICS_PORT"]?.trim() ?? "";
  const port = (variable: "PORT" | "RPC_PORT" | "METRICS_PORT") => {
    const value = variable === "METRICS_PORT" ? metricsText : text(variable);
    const parsed = wholeNumber(0, 65_535).safeParse(value);
    if (!parsed.success) problems.push(`${variable}: ${parsed.error.issues[0]?.message ?? "is wrong"}`);
    return parsed.data ?? 0;
  };
  const options = {
    port: port("PORT"),
    rpcPort: port("RPC_PORT"),
    metricsPort: metricsText === "" ? null : port("METRICS_PORT"),
    dataDir: text("DATA_DIR"),
    tour: text("TOUR") !== "0",
    // Without the `--`, npm takes the option for its own and passes it in this variable.
    fresh: args.includes("--fresh") || env["npm_config_fresh"] === "true",
    verbose: args.includes("--verbose"),
  };
  if (!["0", "1"].includes(text("TOUR"))) problems.push("TOUR: must be 0 or 1");
  if (problems.length > 0) throw new SettingsError(problems);
  return options;
}

/** The settings of the service: the defaults, with the local chain and its own contracts. */
export function serviceSettings(options: StartOptions, rpcUrl: string): Settings {
  return parseSettings(serviceEnvironment(options, rpcUrl));
}

function serviceEnvironment(options: StartOptions, rpcUrl: string): Record<string, string> {
  return {
    PORT: options.port.toString(),
    ...(options.metricsPort === null ? {} : { METRICS_PORT: options.metricsPort.toString() }),
    DATA_DIR: options.dataDir,
    DEPLOYMENTS_DIR: join(options.dataDir, "deployments"),
    DATABASE_URL: defaultDatabase(options.dataDir),
    RPC_URL: rpcUrl,
  };
}

const HEAD = `# Settings of the local chain and service of \`npm start\`, which writes this file at each start.
# With DATA_DIR=<this folder> before them, \`npm run cli\` and \`npm run api\` use this file in place of .env.
`;

/** Writes the settings for the commands that use this service. */
export async function writeServiceSettings(options: StartOptions, rpcUrl: string): Promise<void> {
  const lines = Object.entries(serviceEnvironment(options, rpcUrl)).map(([name, value]) => {
    const line = settingsLine(name, value);
    if (line === null) throw new Problem(`${name} has characters that a file with settings cannot hold.`);
    return `${line}\n`;
  });
  await replaceFile(startFile(options.dataDir), HEAD + lines.join(""), 0o600);
}

/** A CLI command that uses the database and the chain of this start: its settings are in the folder. */
export function cliCommandLine({ dataDir }: Pick<StartOptions, "dataDir">, command: string): string {
  return [...assignments({ DATA_DIR: dataDir }, {}), "npm run cli --", command].join(" ");
}
