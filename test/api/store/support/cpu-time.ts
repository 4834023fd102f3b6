/** Milliseconds of CPU that the process has used. Unlike the time of a clock, it does not grow while other processes run. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
