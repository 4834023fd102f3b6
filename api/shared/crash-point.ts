/** Points at which the fault campaign kills the process: right after each step of a request's life. */
export const CRASH_POINTS = [
  "request:written",
  "request:committed",
  "media:copied",
  "media:recorded",
  "relayer:claimed",
  "relayer:signed",
  "relayer:committed",
  "relayer:broadcast",
  "relayer:sent",
  "indexer:read",
  "indexer:part",
  "indexer:events",
  "indexer:stored",
  "webhooks:taken",
  "webhooks:posted",
  "webhooks:recorded",
] as const;
/** Points at which only tests kill the process. */
export const FURTHER_CRASH_POINTS = ["indexer:past"] as const;
export type CrashPoint = (typeof CRASH_POINTS | typeof FURTHER_CRASH_POINTS)[number];

let armed: CrashPoint | null = null;

/** Makes the process kill itself when it reaches this point. */
export function armCrashPoint(point: CrashPoint): void {
  armed = point;
}

/** Marks such a point. Does nothing unless it is armed. */
export function crashPoint(point: CrashPoint): void {
  if (point === armed) process.kill(process.pid, "SIGKILL");
}
