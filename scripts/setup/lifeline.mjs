// Loaded before the entry, and so into all threads and forks of the entry, which inherit node's arguments. MONETA_LIFELINE says
// what the entry depends on, and is removed for them.
// The id of a parent: the entry has its own process group, so a SIGKILL to the group of the terminal or of npm does not reach it.
// When its parent is gone, it stops as after SIGTERM.
// "shell": the entry has taken the place of run.mjs. It gets SIGINT and SIGTERM itself, and may get them twice: from the terminal
// and from npm. When the terminal closes or npm is gone, it stops as after SIGTERM.
import { watchShell } from "./child.mjs";

const dependsOn = process.env.MONETA_LIFELINE;
const onParent = process.channel && dependsOn === String(process.ppid);
if (onParent || dependsOn === "shell") delete process.env.MONETA_LIFELINE;
if (onParent) {
  process.once("disconnect", () => {
    process.once("exit", endGroup);
    process.kill(process.pid, "SIGTERM");
  });
  // The listener alone would keep the process alive for ever.
  process.channel.unref();
} else if (dependsOn === "shell") {
  let stopping = false;
  const stop = () => {
    if (!stopping) process.kill(process.pid, "SIGTERM");
    stopping = true;
  };
  process.on("SIGHUP", stop);
  // The timer alone must not keep the process alive.
  watchShell(stop)?.unref();
}

/** Does the last step of run.mjs in its place: ends what the entry left running. It would keep its port. */
function endGroup() {
  try {
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // The entry has no own process group (Windows).
  }
}
