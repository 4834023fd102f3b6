import { waitingDeliveries } from "../../store/doctor/pipeline.ts";
import { type Check, duration, ok, warning } from "../check.ts";

/** A delivery that is due for so long is taken by nobody. In milliseconds. */
const OVERDUE = 300_000;

/** Webhooks are delivered, or at least tried. */
export const outbox: Check = {
  name: "outbox",
  asksChain: false,
  run: async ({ database, now }) => {
    const { count, oldest, overdue } = await waitingDeliveries(database.read, now - OVERDUE);
    if (overdue > 0) {
      return [
        warning(
          `${overdue.toString()} webhook deliveries are due and nobody sends them. Is a process with the role webhooks running?`,
        ),
      ];
    }
    if (oldest === null) return [ok("every webhook is delivered")];
    return [
      ok(`${count.toString()} webhook deliveries wait for their next try, the oldest since ${duration(now - oldest)}`),
    ];
  },
};
