import { SealError, type Sealer } from "../keys/sealer.ts";
import type { Database } from "../store/db/database.ts";
import { countOlderFingerprints, everythingSealed, replaceSealed, type Sealed } from "../store/apps/sealed.ts";
import { OperatorError } from "./operator-error.ts";

/** Rows written in one transaction: short, because a running service waits for it. */
const BATCH = 100;
/** Passes after which a service that keeps sealing with an older key is told apart from one that just did. */
const PASSES = 3;

export interface Resealed {
  /** Id of the key that everything is sealed with now. */
  key: string;
  resealed: number;
  /** Sealed with it already. */
  unchanged: number;
  /** Idempotency keys that only an older key recognises. */
  idempotency_keys: number;
}

/**
 * Seals everything anew that is sealed with an older key. What is done stays done when it is broken off, and is passed
 * over the next time. The service may run: what it changes meanwhile is left as it is, and looked at again.
 * @throws OperatorError when something cannot be opened, or a running service still seals with an older key.
 */
export async function reseal(deps: { database: Database; sealer: Sealer }): Promise<Resealed> {
  const { database, sealer } = deps;
  let resealed = 0;
  for (let pass = 0; pass < PASSES; pass++) {
    let [older, unchanged] = [0, 0];
    for await (const page of everythingSealed(database.read, BATCH)) {
      const due = page.filter(({ sealed }) => !sealer.isNewest(sealed));
      unchanged += page.length - due.length;
      older += due.length;
      resealed += await resealPage(deps, due);
    }
    if (older > 0) continue;
    const fingerprints = await countOlderFingerprints(database.read, sealer.newestKey);
    return { key: sealer.newestKey, resealed, unchanged: unchanged - resealed, idempotency_keys: fingerprints };
  }
  throw new OperatorError(
    "Something is sealed with an older key again and again: a running service does not have the newest one. Restart it " +
      "with the SECRET_KEYS of this command, and run this again. What was done stays done.",
  );
}

async function resealPage(
  { database, sealer }: { database: Database; sealer: Sealer },
  due: Sealed[],
): Promise<number> {
  if (due.length === 0) return 0;
  const anew: [Sealed, string][] = [];
  for (const one of due) anew.push([one, await sealer.seal(await open(sealer, one))]);
  return database.write(async (trx) => {
    let replaced = 0;
    for (const [one, text] of anew) if (await replaceSealed(trx, one, text)) replaced += 1;
    return replaced;
  });
}

async function open(sealer: Sealer, { kind, id, sealed }: Sealed): Promise<string> {
  try {
    return await sealer.open(sealed);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const what = kind === "webhook" ? `The webhook secrets of app ${id}` : `The unlockable content of request ${id}`;
    throw new OperatorError(
      `${what} cannot be opened: ${error.message}. Keep every older key in SECRET_KEYS, behind the newest. What was done stays done.`,
    );
  }
}
