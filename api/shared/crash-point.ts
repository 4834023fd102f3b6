/** Steps between which the process may die at any time. The fault campaign makes it die exactly there. */
export const CRASH_POINTS = [
  "request:committed",
  "media:copied",
  "media:recorded",
  "relayer:claimed",
  "relayer:signed",
  "relayer:committed",
  "relayer:broadcast",
  "relayer:sent",
  "indexer:read",
  "indexer:stored",
  "webhooks:taken",
  "webhooks:posted",
  "webhooks:recorded",
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

let armed: CrashPoint | null = null;

/** From now on the process kills itself when it comes to this point. */
export function armCrashPoint(point: CrashPoint): void {
  armed = point;
}

/** Marks a step boundary. Does nothing unless armed. */
export function crashPoint(point: CrashPoint): void {
  if (point === armed) process.kill(process.pid, "SIGKILL");
}
