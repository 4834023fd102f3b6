import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

import BetterSqlite3 from "better-sqlite3";

import { FolderError, requireWritableFolder } from "../../api/shared/folder.ts";
import { commandLine, DEFAULTS, type StartOptions, USUAL_METRICS_PORT } from "./options.ts";
import { codeOf, messageOf, Problem } from "./problem.ts";

const LOCK = "start.lock";
const PORTS = [
  ["port", "PORT"],
  ["rpcPort", "RPC_PORT"],
  ["metricsPort", "METRICS_PORT"],
] as const;

/**
 * Checks the ports and locks the folder. All are checked before anything starts, so that one error can name everything
 * that is taken, and a command line that works.
 * @returns the options with the ports that were found, and a function that unlocks the folder.
 * @throws Problem
 */
export async function reserve(wanted: StartOptions): Promise<{ options: StartOptions; unlock: () => void }> {
  const problems: string[] = [];
  const [found, offered] = [{ ...wanted }, { ...wanted }];
  const promised = new Set(PORTS.map(([key]) => wanted[key]));
  for (const [index, [key, variable]] of PORTS.entries()) {
    const port = wanted[key];
    if (port === null) continue;
    const same = PORTS.slice(0, index).find(([other]) => port !== 0 && wanted[other] === port);
    const checked = await checkPort(port);
    if (same !== undefined) problems.push(`${same[1]} and ${variable} are both ${port}.`);
    else if (checked.problem !== null) problems.push(`${variable}: port ${port} ${checked.problem}.`);
    found[key] = checked.port;
    promised.add(checked.port);
    if (same === undefined && checked.problem === null) continue;
    // Without METRICS_PORT, a free port is found.
    if (key === "metricsPort") offered.metricsPort = null;
    else promised.add((offered[key] = await nextFreePort(port, promised)));
  }
  const folder = tryFolder(wanted.dataDir);
  if ("problem" in folder) problems.push(folder.problem);
  else if (problems.length === 0) {
    found.metricsPort ??= await nextFreePort(USUAL_METRICS_PORT - 1, promised);
    return { options: found, unlock: folder.unlock };
  } else folder.unlock();
  if ("instead" in folder) offered.dataDir = folder.instead;
  const lines = problems.map((problem) => `- ${problem}\n`).join("");
  throw new Problem(
    `npm start cannot use what it needs:\n${lines}\nThis command line works:\n  ${commandLine(offered)}`,
  );
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

/** The next free port after this one, or any free port. @param promised ports that somebody else gets. */
async function nextFreePort(port: number, promised: ReadonlySet<number | null>): Promise<number> {
  for (let next = port + 1; next <= Math.min(port + 20, 65_535); next++) {
    if (!promised.has(next) && (await checkPort(next)).problem === null) return next;
  }
  return (await checkPort(0)).port;
}

function tryFolder(dataDir: string): { unlock: () => void } | { problem: string; instead: string } {
  try {
    const unlock = lockFolder(dataDir);
    if (unlock !== null) return { unlock };
    const problem = `DATA_DIR: another npm start uses the folder ${dataDir}.`;
    return { problem, instead: freeFolder(dataDir, 2) };
  } catch (error) {
    if (!(error instanceof FolderError)) throw error;
    const usual = DEFAULTS.DATA_DIR;
    return { problem: error.message, instead: dataDir === usual ? usual : freeFolder(usual, 1) };
  }
}

/** The first of `<folder>`, `<folder>-2`, `<folder>-3`, ... that no other `npm start` uses. Creates nothing. */
function freeFolder(dataDir: string, from: number): string {
  for (let number = from; ; number++) {
    const folder = number === 1 ? dataDir : `${dataDir}-${number}`;
    if (!existsSync(join(folder, LOCK))) return folder;
    const unlock = lockFolder(folder);
    unlock?.();
    if (unlock !== null) return folder;
  }
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
