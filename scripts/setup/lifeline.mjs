// Loaded before the entry. The entry has a process group of its own, so killing the group of the terminal or of npm with
// SIGKILL does not reach it: when run.mjs is gone, the entry stops as if asked to.
// Processes that the entry forks load this file as well, by the arguments of node that they inherit; their parent is another.
if (process.channel && process.env.MONETA_LIFELINE === String(process.ppid)) {
  delete process.env.MONETA_LIFELINE;
  process.once("disconnect", () => {
    process.once("exit", endGroup);
    process.kill(process.pid, "SIGTERM");
  });
  // The listener alone would keep the process alive for ever.
  process.channel.unref();
}

/** The last act of run.mjs, done here in its place: what the entry started and did not end would keep its port. */
function endGroup() {
  try {
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // The entry leads no group of its own (Windows).
  }
}
