import { defaultDatabase, type Settings } from "./settings.ts";

/** The defaults of the command line. A DATA_DIR is always named: people run commands also where `npm start` runs. */
const DEFAULTS = { PORT: "3000", RPC_URL: "http://127.0.0.1:8545", DATA_DIR: "" };

/**
 * The beginning of a command that uses the database and the chain of these settings. Only for a local chain: elsewhere
 * addresses of nodes and databases can contain secrets.
 */
export function localCommandLine(
  settings: Pick<Settings, "port" | "publicUrl" | "rpcUrl" | "dataDir" | "databaseUrl">,
): string {
  const { port, publicUrl, rpcUrl, dataDir, databaseUrl } = settings;
  const variables = {
    PORT: port.toString(),
    ...(publicUrl === `http://localhost:${port.toString()}` ? {} : { PUBLIC_URL: publicUrl }),
    RPC_URL: rpcUrl,
    // The address of another database can contain a password.
    ...(databaseUrl === defaultDatabase(dataDir) ? { DATA_DIR: dataDir } : {}),
  };
  return [...assignments(variables, DEFAULTS), "npm run cli --"].join(" ");
}

/** Variables before a command of a POSIX shell. Those that have their default are left out. */
export function assignments(variables: Record<string, string>, defaults: Record<string, string>): string[] {
  return Object.entries(variables)
    .filter(([name, value]) => value !== defaults[name])
    .map(([name, value]) => `${name}=${quote(value)}`);
}

function quote(value: string): string {
  return /^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
