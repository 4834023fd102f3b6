/** Calls in the first part of an app. If they are answered quickly, each further part is larger by `GROWTH`. */
const FIRST_PART = 1;
const GROWTH = 4;
/** A part has at most this many calls. */
const LARGEST_PART = 100;

/** Asks for some calls of one app. "unanswered": the node did not answer before the signal. */
type RunPart<Call, Answer> = (calls: Call[], abort: AbortSignal) => Promise<Answer[] | "unanswered">;

/**
 * Asks a node about calls of several apps, whose answers foreign code may delay, within one time budget. The calls of each app are
 * sent in parts that grow while the node answers quickly, so that slow calls of one app neither hide the answers of the others nor
 * keep the node busy for long.
 * @param budget in milliseconds, for all calls together.
 * @param now a monotonic clock.
 * @returns a result for each call; undefined: not answered in time.
 */
export async function answersInTime<Call extends { appId: string }, Answer>(
  calls: readonly Call[],
  budget: number,
  run: RunPart<Call, Answer>,
  now = () => performance.now(),
): Promise<(Answer | undefined)[]> {
  const results = new Map<Call, Answer>();
  if (calls.length === 0 || budget <= 0) return calls.map(() => undefined);
  const deadline = now() + budget;
  const abort = AbortSignal.timeout(budget);
  const askFor = async (ofApp: readonly Call[]) => {
    let size = FIRST_PART;
    for (let start = 0; start < ofApp.length && size > 0;) {
      const part = ofApp.slice(start, start + size);
      const started = now();
      const answers = await run(part, abort);
      if (answers === "unanswered") return;
      for (const [index, call] of part.entries()) {
        const answer = answers[index];
        if (answer !== undefined) results.set(call, answer);
      }
      start += part.length;
      const answered = now();
      // A part that the rest of the budget cannot cover is not begun.
      const affordable = Math.floor((deadline - answered) / ((answered - started) / part.length));
      size = Math.min(size * GROWTH, LARGEST_PART, affordable);
    }
  };
  const apps = Map.groupBy(calls, ({ appId }) => appId);
  await Promise.all([...apps.values()].map(askFor));
  return calls.map((call) => results.get(call));
}
