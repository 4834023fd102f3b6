import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Rpc } from "../../api/chain/rpc.ts";
import { ChainUnavailable } from "../../api/chain/errors.ts";
import { Problem } from "./problem.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HARDHAT = fileURLToPath(new URL("../../node_modules/hardhat/dist/src/cli.js", import.meta.url));
const CONFIG = fileURLToPath(new URL("hardhat.config.ts", import.meta.url));
const LIFELINE = new URL("../setup/lifeline.mjs", import.meta.url).href;

/** Milliseconds. */
const ASK_EVERY = 50;
const START_DEADLINE = 60_000;
const STOP_DEADLINE = 5_000;

/** A Hardhat node that this process started. */
export interface LocalChain {
  rpcUrl: string;
  /** Resolves when the node ends although nobody stopped it. The text is its exit code or signal. */
  died: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts `hardhat node` in its own process group. Ctrl-C must reach only this process, because the service needs the chain
 * until it has stopped. The lifeline ends the node if this process is killed.
 * @param logFile gets the output of the node.
 */
export async function startChain(port: number, logFile: string, abort: AbortSignal): Promise<LocalChain> {
  const log = openSync(logFile, "a");
  const child = spawn(
    process.execPath,
    ["--import", LIFELINE, HARDHAT, "--config", CONFIG, "node", "--hostname", "127.0.0.1", "--port", port.toString()],
    {
      cwd: ROOT,
      env: { ...process.env, MONETA_LIFELINE: process.pid.toString() },
      stdio: ["ignore", log, log, "ipc"],
      detached: process.platform !== "win32",
    },
  );
  closeSync(log);
  const ended = endOf(child);
  let asked = false;
  const chain: LocalChain = {
    rpcUrl: `http://127.0.0.1:${port}`,
    died: new Promise((resolve) => {
      void ended.then((how) => {
        if (!asked) resolve(how);
      });
    }),
    stop: async () => {
      asked = true;
      await end(child, ended);
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

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code ?? "unknown"}` : signal));
  });
}

async function untilItAnswers(chain: LocalChain, logFile: string, abort: AbortSignal): Promise<void> {
  const rpc = new Rpc(chain.rpcUrl);
  const deadline = AbortSignal.timeout(START_DEADLINE);
  const gone = chain.died.then((how) => {
    throw new Problem(`The local chain did not start (${how}). Its log is ${logFile}.`);
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

async function end(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE);
  await ended;
  clearTimeout(force);
}
