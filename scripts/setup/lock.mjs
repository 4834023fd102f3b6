import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { inProject, say } from "./project.mjs";

const lockFile = inProject("cache", "setup.lock");
const POLL_MS = 200;
/** Longer than any set-up takes. After a restart of the machine, another process may have the recorded id. */
const MAX_AGE_MS = 10 * 60_000;

/** Runs the work while no other process of this checkout installs or builds. */
export async function withSetupLock(work) {
  mkdirSync(inProject("cache"), { recursive: true });
  for (let waited = false; !tryLock(); waited = true) {
    if (!waited) say("waiting for another process that installs or builds here");
    if (holderIsGone()) rmSync(lockFile, { force: true });
    await sleep(POLL_MS);
  }
  process.once("exit", unlock);
  try {
    return await work();
  } finally {
    process.off("exit", unlock);
    unlock();
  }
}

function tryLock() {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function unlock() {
  rmSync(lockFile, { force: true });
}

function holderIsGone() {
  try {
    if (Date.now() - statSync(lockFile).mtimeMs > MAX_AGE_MS) return true;
    const holder = Number(readFileSync(lockFile, "utf8"));
    // Empty: the owner has created the file but not written it yet.
    if (holder === 0) return false;
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
