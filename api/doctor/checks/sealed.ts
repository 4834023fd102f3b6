import { SealError, sealedPlace } from "../../keys/sealer.ts";
import { acceptsUnboundValues } from "../../store/db/meta.ts";
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
    const acceptsUnbound = () => acceptsUnboundValues(database.read);
    for (const { where, kind, id, sealed: text } of sample) {
      try {
        await sealer.open(text, sealedPlace(kind, id), acceptsUnbound);
        if (!sealer.isCurrent(text)) older += 1;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        undecryptable.push(`${where} (${error.message})`);
      }
    }
    if (undecryptable.length > 0) {
      return [
        problem(
          `SECRET_KEYS cannot decrypt ${some(undecryptable, 3)}. If a key is missing, add it at the end of SECRET_KEYS.`,
        ),
      ];
    }
    if (older > 0 || (await acceptsUnbound())) {
      return [
        warning(
          "Some values are encrypted with an older key, or by a version that did not bind them to their row. Run `npm run cli -- keys rotate`, before you remove an older key.",
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
