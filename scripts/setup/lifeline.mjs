// Loaded before the entry. The entry has its own process group, so a SIGKILL to the group of the terminal or of npm does not
// reach it. When run.mjs is gone, the entry stops as after SIGTERM.
// Processes that the entry forks inherit node's arguments and load this file too. The parent id tells them apart.
if (process.channel && process.env.MONETA_LIFELINE === String(process.ppid)) {
  delete process.env.MONETA_LIFELINE;
  process.once("disconnect", () => {
    process.once("exit", endGroup);
    process.kill(process.pid, "SIGTERM");
  });
  // The listener alone would keep the process alive for ever.
  process.channel.unref();
}

/** Does the last step of run.mjs in its place: ends what the entry left running. It would keep its port. */
function endGroup() {
  try {
    process.kill(-process.pid, "SIGTERM");
  } catch {
    // The entry has no own process group (Windows).
  }
}
