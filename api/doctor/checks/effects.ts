import { lostEffects } from "../../store/examination/effects.ts";
import { type Check, ok, problem } from "../check.ts";

const TOLD = 5;

/** What was told as completed has lasted: the token is there, under the id that was told. */
export const effects: Check = {
  name: "effects",
  asksChain: false,
  run: async ({ database }) => {
    const told: string[] = [];
    let lost = 0;
    for await (const page of lostEffects(database.read)) {
      lost += page.length;
      told.push(...page.slice(0, TOLD - told.length).map(({ id, words }) => `request ${id}: ${words}`));
    }
    if (lost === 0) return [ok("whatever was completed is still there")];
    return [
      problem(
        `${lost.toString()} completed requests have lost their effect, to a reorg deeper than CONFIRMATIONS. ${told.join("; ")}. ` +
          `Set CONFIRMATIONS higher, tell the apps, and let them ask again where they must.`,
      ),
    ];
  },
};
