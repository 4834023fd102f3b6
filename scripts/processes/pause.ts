import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Milliseconds within which every thread must stop. A thread that writes to the disk stops when the write is over. */
const TIMEOUT = 60_000;

/**
 * Stops a process with SIGSTOP, until it gets SIGCONT. Resolves when every thread has stopped: after the signal, a thread
 * may run on for a moment, and begin a transaction.
 */
export async function pause(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  const deadline = performance.now() + TIMEOUT;
  while (!isPaused(pid)) {
    if (performance.now() > deadline) throw new Error(`process ${pid.toString()} did not stop on SIGSTOP`);
    await wait(1);
  }
}

/** Whether every thread of the process is stopped. */
function isPaused(pid: number): boolean {
  return statesOf(pid).every((state) => state === "T");
}

/** The states of the threads, as letters; of the whole process on systems without /proc. */
function statesOf(pid: number): string[] {
  if (process.platform !== "linux") {
    return [execFileSync("ps", ["-o", "stat=", "-p", pid.toString()], { encoding: "utf8" }).trim().charAt(0)];
  }
  const folder = `/proc/${pid.toString()}/task`;
  return readdirSync(folder).map((thread) => stateOf(`${folder}/${thread}/stat`));
}

/** Empty when the thread has just ended. */
function stateOf(statFile: string): string {
  try {
    const text = readFileSync(statFile, "utf8");
    // The state follows the program's name, which is in parentheses and may itself contain some.
    return text.charAt(text.lastIndexOf(")") + 2);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return "";
    throw error;
  }
}
