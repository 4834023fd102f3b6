import { SealError } from "../../keys/sealer.ts";
import { sealedSample } from "../../store/doctor/sealed.ts";
import { type Check, ok, problem, some, warning } from "../check.ts";

const SAMPLE = 20;

/** SECRET_KEYS open what is sealed. */
export const sealed: Check = {
  name: "sealed",
  asksChain: false,
  run: async ({ database, keys }) => {
    const { sealer } = keys;
    if (sealer === null) return [problem(keys.sealerProblem ?? "There is no key.")];
    const sample = await sealedSample(database.read, SAMPLE);
    const shut: string[] = [];
    let older = 0;
    for (const { where, sealed: text } of sample) {
      try {
        await sealer.open(text);
        if (!sealer.isNewest(text)) older += 1;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        shut.push(`${where} (${error.message})`);
      }
    }
    if (shut.length > 0) {
      return [
        problem(`SECRET_KEYS do not open ${some(shut, 3)}. Add the key that is missing at the end of SECRET_KEYS.`),
      ];
    }
    if (older > 0) {
      return [
        warning("Something is sealed with an older key. Run `npm run cli -- keys rotate` before you drop that key."),
      ];
    }
    return [ok(`${sample.length.toString()} sealed values looked at: the newest key opens them`)];
  },
};
