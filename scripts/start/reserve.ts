import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";

import { FolderError, requireWritableFolder } from "../../api/shared/folder.ts";
import { type StartOptions, USUAL_METRICS_PORT } from "./options.ts";
import { codeOf, messageOf, Problem } from "./problem.ts";

const LOCK = "start.lock";
const PORTS = [
  ["port", "PORT"],
  ["rpcPort", "RPC_PORT"],
  ["metricsPort", "METRICS_PORT"],
] as const;

/**
 * Checks the ports and locks the folder. All are checked before anything starts, so that one error can name everything
 * that is taken.
 * @returns the options with the ports that were found, and a function that unlocks the folder.
 * @throws Problem
 */
export async function reserve(wanted: StartOptions): Promise<{ options: StartOptions; unlock: () => void }> {
  const problems: string[] = [];
  const found = { ...wanted };
  for (const [index, [key, variable]] of PORTS.entries()) {
    const port = wanted[key];
    if (port === null) continue;
    const same = PORTS.slice(0, index).find(([other]) => port !== 0 && wanted[other] === port);
    const checked = await checkPort(port);
    if (same !== undefined) problems.push(`${same[1]} and ${variable} are both ${port}.`);
    else if (checked.problem !== null) problems.push(`${variable}: port ${port} ${checked.problem}.`);
    found[key] = checked.port;
  }
  let unlock: (() => void) | null = null;
  try {
    unlock = lockFolder(wanted.dataDir);
    if (unlock === null) problems.push(`DATA_DIR: another npm start uses the folder ${wanted.dataDir}.`);
  } catch (error) {
    if (!(error instanceof FolderError)) throw error;
    problems.push(error.message);
  }
  if (unlock !== null && problems.length === 0) {
    found.metricsPort ??= await freeMetricsPort(found);
    return { options: found, unlock };
  }
  unlock?.();
  const lines = problems.map((problem) => `- ${problem}\n`).join("");
  const hint = "Name others, such as: PORT=3001 RPC_PORT=8546 DATA_DIR=data/local-2 npm start";
  throw new Problem(`npm start cannot use what it needs:\n${lines}\n${hint}`);
}

/** @param port 0: any free port. @returns the port, and why it cannot be used; null: nobody listens on it. */
async function checkPort(port: number): Promise<{ port: number; problem: string | null }> {
  try {
    const free = await listenOnce(port, "127.0.0.1");
    // `localhost` may mean this address too, and another program there would answer in our place.
    await listenOnce(free, "::1").catch((error: unknown) => {
      if (codeOf(error) === "EADDRINUSE") throw error;
    });
    return { port: free, problem: null };
  } catch (error) {
    return { port, problem: codeOf(error) === "EADDRINUSE" ? "is in use" : `cannot be used (${messageOf(error)})` };
  }
}

async function listenOnce(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  const { port: taken } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return taken;
}

/** The usual port or one of the next, or any free port. */
async function freeMetricsPort({ port, rpcPort }: StartOptions): Promise<number> {
  for (let next = USUAL_METRICS_PORT; next < USUAL_METRICS_PORT + 20; next++) {
    if (next !== port && next !== rpcPort && (await checkPort(next)).problem === null) return next;
  }
  return (await checkPort(0)).port;
}

/**
 * Locks the folder, so that a second `npm start` cannot use it. The operating system holds the lock, through SQLite, and
 * releases it when the process ends in any way.
 * @returns a function that releases the lock, or null when another process holds it.
 * @throws FolderError when the folder cannot be used.
 */
function lockFolder(dataDir: string): (() => void) | null {
  requireWritableFolder(dataDir, "DATA_DIR");
  const lock = new BetterSqlite3(join(dataDir, LOCK), { timeout: 0 });
  try {
    lock.exec("begin exclusive");
  } catch (error) {
    lock.close();
    if (codeOf(error) !== "SQLITE_BUSY") throw error;
    return null;
  }
  return () => {
    lock.close();
  };
}
