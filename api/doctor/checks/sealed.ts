import { SealError } from "../../keys/sealer.ts";
import { sealedSample } from "../../store/doctor/sealed.ts";
import { type Check, ok, problem, some, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

const SAMPLE = 20;

/** SECRET_KEYS decrypt the encrypted values of the database. */
export const sealed: Check = {
  name: "sealed",
  asksChain: false,
  run: async ({ database, keys }) => {
    const { sealer } = keys;
    if (sealer === null) return [problem(keys.sealerProblem ?? "There is no encryption key. Set SECRET_KEYS.")];
    const sample = await sealedSample(database.read, SAMPLE);
    const undecryptable: string[] = [];
    let older = 0;
    for (const { where, sealed: text } of sample) {
      try {
        await sealer.open(text);
        if (!sealer.isNewest(text)) older += 1;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        undecryptable.push(`${where} (${error.message})`);
      }
    }
    if (undecryptable.length > 0) {
      return [
        problem(`SECRET_KEYS cannot decrypt ${some(undecryptable, 3)}. Add the missing key at the end of SECRET_KEYS.`),
      ];
    }
    if (older > 0) {
      return [
        warning(
          "Some values are encrypted with an older key. Run `npm run cli -- keys rotate` before you remove that key.",
        ),
      ];
    }
    return [
      ok(
        `checked ${plural(sample.length, "encrypted value")}: the newest key decrypts ${sample.length === 1 ? "it" : "them"}`,
      ),
    ];
  },
};
