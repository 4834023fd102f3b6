import { waitingDeliveries } from "../../store/doctor/pipeline.ts";
import { type Check, duration, ok, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** A dispatcher sends a due delivery long before this. In milliseconds. */
const OVERDUE = 300_000;

/** A dispatcher tries the webhook deliveries that are due. */
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
