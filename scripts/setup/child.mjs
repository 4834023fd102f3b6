import { spawn } from "node:child_process";
import { constants } from "node:os";

import { projectEnvironment } from "./project.mjs";

const windows = process.platform === "win32";
/** Signals within this time count as one: a terminal signals the whole process group, and npm forwards the signal too. */
const SAME_SIGNAL_MS = 1_000;
const SHELL_POLL_MS = 100;

/** Runs a step of the set-up, in this process group. Returns its exit code, and what it printed. */
export async function runQuietly(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk));
  return { code: await passingSignals(child), output: Buffer.concat(output).toString() };
}

/**
 * Runs the entry in its own process group. Ctrl-C then reaches it once, through the signal sent from here, and not also from
 * the terminal and npm. The ipc channel is its lifeline: see lifeline.mjs.
 */
export async function runAlone(command, args, cwd) {
  const child = spawn(command, args, {
    cwd,
    env: { ...projectEnvironment(), MONETA_LIFELINE: String(process.pid) },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    // On Windows this would open another console, and the console's Ctrl-C is the only signal that lets a process stop itself.
    detached: !windows,
  });
  const code = await passingSignals(child);
  if (!windows) endGroup(child.pid);
  return code;
}

/**
 * Puts the entry in the place of this process, so that only npm's own process stays beside it. The entry must
 * load lifeline.mjs, which does there what this process would do.
 * Returns where Node cannot do that: on Windows, and before 22.15.
 */
export function replaceThisProcess(command, args, cwd) {
  if (windows || process.execve === undefined) return;
  process.chdir(cwd);
  // It warns that it is experimental, but only after this turn of the event loop.
  process.execve(command, [command, ...args], { ...projectEnvironment(), MONETA_LIFELINE: "shell" });
}

function passingSignals(child) {
  return new Promise((resolve, reject) => {
    let last = -Infinity;
    function pass(signal) {
      const now = performance.now();
      const repeated = now - last < SAME_SIGNAL_MS;
      last = now;
      // On Windows `kill` ends a process at once.
      if (!repeated && !windows) child.kill(signal === "SIGHUP" ? "SIGTERM" : signal);
    }
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, pass);
    const watch = watchShell(() => pass("SIGTERM"));
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearInterval(watch);
      for (const name of signals) process.off(name, pass);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** Ends what the entry left running, such as a local chain after a crash. It would keep its port. */
function endGroup(group) {
  try {
    process.kill(-group, "SIGTERM");
  } catch {
    // Nothing was left running.
  }
}

/**
 * npm signals the shell between npm and this process. Some shells end without forwarding the signal, so the end of the shell
 * counts as SIGTERM. Outside npm a parent may end for good reasons (nohup).
 */
export function watchShell(gone) {
  const shell = process.ppid;
  if (process.platform === "win32" || process.env.npm_lifecycle_event === undefined) return undefined;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    gone();
  }, SHELL_POLL_MS);
  return watch;
}
