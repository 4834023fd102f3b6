import type { SimulatedCall } from "../chain/simulate-calls.ts";

/** Calls in the first part of an app. If they are answered quickly, each further part is larger by `GROWTH`. */
const FIRST_PART = 1;
const GROWTH = 4;
/** Most calls in a part. */
const LARGEST_PART = 100;

/** Simulates some calls of one app. "unanswered": the node did not answer before the signal. */
export type RunPart<Call> = (calls: Call[], abort: AbortSignal) => Promise<SimulatedCall[] | "unanswered">;

/**
 * Simulates calls of several apps within one time budget. The calls of each app are sent in parts that grow while the node
 * answers quickly, so that slow calls of one app neither hide the answers of the others nor keep the node busy for long.
 * @param budget in milliseconds, for all calls together.
 * @param now a monotonic clock.
 * @returns a result for each call; undefined: not answered in time.
 */
export async function simulateInTime<Call extends { appId: string }>(
  calls: readonly Call[],
  budget: number,
  run: RunPart<Call>,
  now = () => performance.now(),
): Promise<(SimulatedCall | undefined)[]> {
  const results = new Map<Call, SimulatedCall>();
  if (calls.length === 0) return [];
  const deadline = now() + budget;
  const abort = AbortSignal.timeout(budget);
  const apps = Map.groupBy(calls, ({ appId }) => appId);
  await Promise.all([...apps.values()].map((ofApp) => simulateApp(ofApp, { deadline, now, abort, run, results })));
  return calls.map((call) => results.get(call));
}

interface AppRun<Call> {
  /** By the clock. */
  deadline: number;
  now: () => number;
  abort: AbortSignal;
  run: RunPart<Call>;
  results: Map<Call, SimulatedCall>;
}

async function simulateApp<Call>(
  calls: readonly Call[],
  { deadline, now, abort, run, results }: AppRun<Call>,
): Promise<void> {
  let size = FIRST_PART;
  for (let start = 0; start < calls.length && size > 0;) {
    const part = calls.slice(start, start + size);
    const started = now();
    const answers = await run(part, abort);
    if (answers === "unanswered") return;
    for (const [index, call] of part.entries()) results.set(call, answers[index] ?? null);
    start += part.length;
    const answered = now();
    // A part that the rest of the budget cannot cover is not begun.
    const affordable = Math.floor((deadline - answered) / ((answered - started) / part.length));
    size = Math.min(size * GROWTH, LARGEST_PART, affordable);
  }
}
