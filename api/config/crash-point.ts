import { CRASH_POINTS, type CrashPoint } from "../shared/crash-point.ts";
import { type Environment, SettingsError } from "./settings.ts";

/**
 * The point at which this process kills itself. Only for the fault campaign, so it is not documented.
 * @throws SettingsError
 */
export function crashPointIn(env: Environment): CrashPoint | null {
  const text = env["CRASH_POINT"];
  if (text === undefined || text === "") return null;
  const point = CRASH_POINTS.find((known) => known === text);
  if (point === undefined) throw new SettingsError([`CRASH_POINT: must be one of ${CRASH_POINTS.join(", ")}`]);
  return point;
}
