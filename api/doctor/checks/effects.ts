import { correctedSince, lostEffects } from "../../store/doctor/effects.ts";
import { type Check, ok, problem } from "../check.ts";

const TOLD = 5;
/** How long a corrected outcome is told as a problem, in milliseconds: then the apps have seen to it. */
const FRESH = 7 * 86_400_000;

/** What was told as completed has lasted: the token is there, under the id that was told. */
export const effects: Check = {
  name: "effects",
  asksChain: false,
  run: async ({ database, now }) => {
    const told: string[] = [];
    let lost = 0;
    for await (const page of lostEffects(database.read)) {
      lost += page.length;
      told.push(...page.slice(0, TOLD - told.length).map(({ id, words }) => `request ${id}: ${words}`));
    }
    const corrected = await correctedSince(database.read, now - FRESH);
    const changed = corrected.map((id) =>
      problem(
        `Request ${id} was final, and a reorg deeper than CONFIRMATIONS made something else of it (event corrected). Set ` +
          `CONFIRMATIONS higher. Told for 7 days.`,
      ),
    );
    if (changed.length > 0 && lost === 0) return changed.slice(0, TOLD);
    if (lost === 0) return [ok("whatever was completed is still there")];
    return [
      problem(
        `${lost.toString()} completed requests have lost their effect, to a reorg deeper than CONFIRMATIONS. ${told.join("; ")}. ` +
          `Set CONFIRMATIONS higher, tell the apps, and let them ask again where they must.`,
      ),
    ];
  },
};
