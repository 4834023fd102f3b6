import { correctedSince, lostEffects } from "../../store/doctor/effects.ts";
import { type Check, ok, problem } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** Requests named one by one. */
const NAMED = 5;
/** How long a corrected outcome stays a problem, in milliseconds. After that the apps have had time to react. */
const FRESH = 7 * 86_400_000;

/** Completed requests still have their effect on chain: the token exists, with the id that the app received. */
export const effects: Check = {
  name: "effects",
  asksChain: false,
  run: async ({ database, now }) => {
    const named: string[] = [];
    let lost = 0;
    for await (const page of lostEffects(database.read)) {
      lost += page.length;
      named.push(...page.slice(0, NAMED - named.length).map(({ id, words }) => `request ${id}: ${words}`));
    }
    const corrected = await correctedSince(database.read, now - FRESH);
    const changed = corrected.map((id) =>
      problem(
        `A reorg deeper than CONFIRMATIONS changed the outcome of the final request ${id} (event "corrected"). Set ` +
          `CONFIRMATIONS higher. This finding stays for 7 days.`,
      ),
    );
    if (changed.length > 0 && lost === 0) return changed.slice(0, NAMED);
    if (lost === 0) return [ok("the results of all completed requests are still on chain")];
    return [
      problem(
        `A reorg deeper than CONFIRMATIONS undid ${plural(lost, "completed request")}. ${named.join("; ")}. Set ` +
          `CONFIRMATIONS higher, and tell the apps to repeat these requests if they still need the results.`,
      ),
    ];
  },
};
