import { unsentRequests } from "../../store/doctor/pipeline.ts";
import { type Check, duration, ok, problem, warning } from "../check.ts";

/** In milliseconds. */
const SLOW = 120_000;
const STUCK = 3_600_000;

/** Accepted requests are sent soon. */
export const backlog: Check = {
  name: "backlog",
  asksChain: false,
  run: async ({ database, now }) => {
    const { count, oldest } = await unsentRequests(database.read);
    if (oldest === null) return [ok("no request waits to be sent")];
    const words = `${count.toString()} requests wait to be sent, the oldest for ${duration(now - oldest)}`;
    const advice = "Is a process with the role relayer running? Its log and GET /readyz say what keeps it.";
    if (now - oldest > STUCK) return [problem(`${words}. ${advice}`)];
    return [now - oldest > SLOW ? warning(`${words}. ${advice}`) : ok(words)];
  },
};
