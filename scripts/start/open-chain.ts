import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { anvilBinary } from "../scene/anvil.ts";
import { ChainDidNotStart, type LocalChain, startAnvil, startHardhat } from "./chain.ts";
import {
  dropKeptApps,
  hasDatabase,
  keepApps,
  requireLocalDatabase,
  setDatabaseAside,
  useKeptApps,
} from "./kept-database.ts";
import { hasState, StateKeeper, type UnpackedState, unpackState } from "./kept-state.ts";
import type { StartOptions } from "./options.ts";
import { Problem } from "./problem.ts";

/** What Anvil exits with when it cannot use an argument, such as a file with a state. */
const BAD_ARGUMENT = 2;

const NEW = "the local chain and the database begin anew.";

interface OpenedChain {
  chain: LocalChain;
  /** Whether it has the blocks of the last start, so that the database and the token go on. */
  continued: boolean;
  /** Whether the tour may run: no app of an earlier chain is there, whose webhook it would replace. */
  tour: boolean;
  /** Saves the state of the chain; null where nothing can. */
  keeper: StateKeeper | null;
}

interface Opening {
  options: StartOptions;
  abort: AbortSignal;
  say: (text: string) => void;
}

/**
 * Starts the local chain. It goes on where the last start stopped if its state was kept and the database fits to it.
 * Otherwise it is empty, and what was there before is set aside once the chain answers: a start that fails changes nothing.
 */
export async function openChain(opening: Opening): Promise<OpenedChain> {
  const { options, abort, say } = opening;
  requireLocalDatabase(options.dataDir);
  useKeptApps(options.dataDir);
  const place = { port: options.rpcPort, logFile: join(options.dataDir, "chain.log") };
  const program = await usableAnvil();
  if (program === null) {
    const chain = await startHardhat(place, abort);
    say("Anvil is not installed (there is a package for Linux on x64 only), so data are not kept after this start.");
    const tour = await beginAnew(opening, chain, `The last chain is gone: ${NEW}`);
    return { chain, continued: false, tour, keeper: null };
  }
  const start = (state: UnpackedState | null) => startAnvil(place, { program, state }, abort);
  const kept = options.fresh ? `Because of --fresh, ${NEW}` : await continueChain(opening, start);
  const chain = typeof kept === "string" ? await start(null) : kept;
  const tour = typeof kept === "string" && (await beginAnew(opening, chain, kept));
  if (typeof kept !== "string") dropKeptApps(options.dataDir);
  const keeper = new StateKeeper(chain.rpcUrl, options.dataDir, say);
  return { chain, continued: typeof kept !== "string", tour, keeper };
}

/** @returns the chain of the last start, or why it cannot go on. */
async function continueChain(
  { options: { dataDir } }: Opening,
  start: (state: UnpackedState) => Promise<LocalChain>,
): Promise<LocalChain | string> {
  if (!hasState(dataDir)) return `The state of the last chain is not there: ${NEW}`;
  if (!hasDatabase(dataDir)) return `There is no database for the last chain: ${NEW}`;
  const unreadable = `The state of the last chain cannot be read: ${NEW}`;
  const state = await unpackState(dataDir);
  if (state === null) return unreadable;
  let chain: LocalChain;
  try {
    chain = await start(state);
  } catch (error) {
    if (error instanceof ChainDidNotStart && error.exitCode === BAD_ARGUMENT) return unreadable;
    throw error;
  } finally {
    await rm(state.file, { force: true });
  }
  try {
    const { databaseFits } = await import("./fit.ts");
    if (await databaseFits(dataDir, chain.rpcUrl)) return chain;
  } catch (error) {
    await chain.stop();
    const { sentenceOf } = await import("../../api/context/startup-error.ts");
    const sentence = sentenceOf(error);
    throw sentence === null
      ? error
      : new Problem(`${sentence}\nNothing was changed. To begin anew, and rename the database: npm start -- --fresh`, {
          cause: error,
        });
  }
  await chain.stop();
  return `The last start was killed before it saved the newest blocks: ${NEW}`;
}

/** Sets the old database aside, and keeps its apps unless the user wants an empty one. @returns whether nothing was kept. */
async function beginAnew(
  { options: { dataDir, fresh }, say }: Opening,
  chain: LocalChain,
  why: string,
): Promise<boolean> {
  try {
    if (fresh) dropKeptApps(dataDir);
    const kept = fresh ? null : keepApps(dataDir);
    const aside = setDatabaseAside(dataDir, new Date());
    useKeptApps(dataDir);
    if (aside !== null) say(`${why} The old one was renamed: ${aside}`);
    if (kept !== null) say(kept);
    return kept === null;
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

/** Path of Anvil, if it runs on this system. */
async function usableAnvil(): Promise<string | null> {
  const program = anvilBinary();
  if (program === null) return null;
  try {
    await promisify(execFile)(program, ["--version"]);
    return program;
  } catch {
    // Its libraries may be missing.
    return null;
  }
}
