import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Rpc } from "../../api/chain/rpc.ts";
import { ChainUnavailable } from "../../api/chain/errors.ts";
import type { UnpackedState } from "./kept-state.ts";
import { Problem } from "./problem.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HARDHAT = fileURLToPath(new URL("../../node_modules/hardhat/dist/src/cli.js", import.meta.url));
const CONFIG = fileURLToPath(new URL("hardhat.config.ts", import.meta.url));
const LIFELINE = new URL("../setup/lifeline.mjs", import.meta.url).href;

/** Milliseconds. */
const ASK_EVERY = 50;
const START_DEADLINE = 60_000;
const STOP_DEADLINE = 5_000;

/**
 * Accounts and gas like those of a Hardhat node, and no copies of the state at older blocks: they would be a gigabyte after some
 * thousand blocks.
 */
const ANVIL_RULES = ["--accounts", "20", "--gas-limit", "60000000", "--enable-tx-gas-limit", "--prune-history", "128"];

/** A node that this process started. */
export interface LocalChain {
  rpcUrl: string;
  /** Resolves when the node ends although nobody stopped it. */
  died: Promise<End>;
  stop(): Promise<void>;
}

/** How a process ended. */
interface End {
  /** null: a signal ended it. */
  code: number | null;
  /** The exit code or the signal, for people. */
  text: string;
}

/** Thrown when the node ends before it answers. */
export class ChainDidNotStart extends Problem {
  readonly exitCode: number | null;

  constructor({ code, text }: End, logFile: string) {
    super(`The local chain did not start (${text}). Its log is ${logFile}.`);
    this.exitCode = code;
  }
}

interface Place {
  port: number;
  /** Gets the output of the node. */
  logFile: string;
}

/** Starts `hardhat node`. Its chain is in memory. The lifeline ends the node if this process is killed. */
export function startHardhat(place: Place, abort: AbortSignal): Promise<LocalChain> {
  const args = ["--import", LIFELINE, HARDHAT, "--config", CONFIG, "node"];
  const child = launch(process.execPath, [...args, "--hostname", "127.0.0.1", "--port", place.port.toString()], place);
  return running(child, place, abort);
}

/**
 * Starts Anvil, whose blocks have the times of the clock.
 * @param from.program path of Anvil. @param from.state what it continues; null: an empty chain.
 */
export async function startAnvil(
  place: Place,
  { program, state }: { program: string; state: UnpackedState | null },
  abort: AbortSignal,
): Promise<LocalChain> {
  // Without --quiet it logs each call.
  const args = ["--quiet", "--host", "127.0.0.1", "--port", place.port.toString(), ...ANVIL_RULES];
  const load = state === null ? [] : ["--load-state", resolve(state.file), "--timestamp", state.began.toString()];
  const child = launch(program, [...args, ...load], place);
  endWithThisProcess(child);
  const chain = await running(child, place, abort);
  try {
    // With the time of block 0 it also sets its clock back.
    if (state !== null) await new Rpc(chain.rpcUrl).call("evm_setTime", [Math.floor(Date.now() / 1000)]);
    return chain;
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

/** The ipc channel is for the lifeline. */
function launch(program: string, args: string[], { logFile }: Place): ChildProcess {
  const log = openSync(logFile, "a");
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, MONETA_LIFELINE: process.pid.toString() },
    stdio: ["ignore", log, log, "ipc"],
    detached: process.platform !== "win32",
  });
  closeSync(log);
  return child;
}

/**
 * Ends the child if this process is killed: the pipe closes then, and the shell reads its end. (lifeline.mjs does so in
 * programs of Node.)
 */
function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const command = ["-c", 'read -r line; kill "$1"', "sh", child.pid.toString()];
  const watcher = spawn("sh", command, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watcher.unref();
  // First, because another process may get the child's id.
  child.once("exit", () => watcher.kill("SIGKILL"));
}

/**
 * The node is in its own process group. Ctrl-C must reach only this process, because the service needs the chain until it has
 * stopped.
 */
async function running(child: ChildProcess, { port, logFile }: Place, abort: AbortSignal): Promise<LocalChain> {
  const ended = endOf(child);
  let asked = false;
  const chain: LocalChain = {
    rpcUrl: `http://127.0.0.1:${port}`,
    died: new Promise((done) => {
      void ended.then((end) => {
        if (!asked) done(end);
      });
    }),
    stop: async () => {
      asked = true;
      await stop(child, ended);
    },
  };
  try {
    await untilItAnswers(chain, logFile, abort);
  } catch (error) {
    await chain.stop();
    throw error;
  }
  return chain;
}

function endOf(child: ChildProcess): Promise<End> {
  return new Promise((done) => {
    child.once("error", (error) => done({ code: null, text: error.message }));
    child.once("exit", (code, signal) => done({ code, text: signal ?? `exit code ${code ?? "unknown"}` }));
  });
}

async function untilItAnswers(chain: LocalChain, logFile: string, abort: AbortSignal): Promise<void> {
  const rpc = new Rpc(chain.rpcUrl);
  const deadline = AbortSignal.timeout(START_DEADLINE);
  const gone = chain.died.then((end) => {
    throw new ChainDidNotStart(end, logFile);
  });
  const answers = (async () => {
    for (;;) {
      abort.throwIfAborted();
      if (deadline.aborted)
        throw new Problem(`The local chain does not answer after ${START_DEADLINE / 1000} s. Its log is ${logFile}.`);
      try {
        await rpc.call("eth_chainId", []);
        return;
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        await delay(ASK_EVERY);
      }
    }
  })();
  await Promise.race([answers, gone]);
}

async function stop(child: ChildProcess, ended: Promise<End>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE);
  await ended;
  clearTimeout(force);
}
