const SHELL_POLL_MS = 100;

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
