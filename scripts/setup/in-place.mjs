// Loaded before an entry that has taken the place of run.mjs. The entry gets SIGINT and SIGTERM itself, and may get them
// twice: from the terminal and from npm. When the terminal closes or npm is gone, it stops as after SIGTERM.
import { isMainThread } from "node:worker_threads";

import { watchShell } from "./shell.mjs";

let stopping = false;

function stop() {
  if (!stopping) process.kill(process.pid, "SIGTERM");
  stopping = true;
}

// Node loads this file into each thread of the entry, too.
if (isMainThread) {
  process.on("SIGHUP", stop);
  // The timer alone must not keep the process alive.
  watchShell(stop)?.unref();
}
