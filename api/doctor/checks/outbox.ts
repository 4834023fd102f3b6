import { waitingDeliveries } from "../../store/doctor/pipeline.ts";
import { type Check, duration, ok, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** A delivery that is due for longer is overdue: a running dispatcher is much faster. In milliseconds. */
const OVERDUE = 300_000;

/** Due webhook deliveries are being sent. */
export const outbox: Check = {
  name: "outbox",
  asksChain: false,
  run: async ({ database, now }) => {
    const { count: waiting, oldest, overdue } = await waitingDeliveries(database.read, now - OVERDUE);
    if (overdue > 0) {
      return [
        warning(
          `${plural(overdue, "webhook delivery is", "webhook deliveries are")} overdue and not being sent. Check that a process with ` +
            `the role webhooks runs.`,
        ),
      ];
    }
    if (oldest === null) return [ok("all webhook deliveries are done")];
    return [
      ok(
        `${plural(waiting, "webhook delivery is", "webhook deliveries are")} waiting for the next try, the oldest for ${duration(now - oldest)}`,
      ),
    ];
  },
};
