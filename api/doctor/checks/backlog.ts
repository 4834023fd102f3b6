import { BACKLOG_SLOW } from "../../domain/conditions.ts";
import { unsentRequests } from "../../store/doctor/pipeline.ts";
import { type Check, duration, ok, problem, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** In milliseconds. */
const STUCK = 3_600_000;

/** No accepted request waits longer than some minutes to be sent. */
export const backlog: Check = {
  name: "backlog",
  asksChain: false,
  run: async ({ database, now }) => {
    const { count: waiting, oldest } = await unsentRequests(database.read);
    if (oldest === null) return [ok("no request is waiting to be sent")];
    const words = `${plural(waiting, "request is", "requests are")} waiting to be sent, the oldest for ${duration(now - oldest)}`;
    const advice = "Check that a process with the role relayer runs. Its log shows the cause.";
    if (now - oldest > STUCK) return [problem(`${words}. ${advice}`, "backlog_growing")];
    return [now - oldest > BACKLOG_SLOW ? warning(`${words}. ${advice}`, "backlog_growing") : ok(words)];
  },
};
