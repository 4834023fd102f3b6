import { SealError, sealedPlace, type Sealer } from "../keys/sealer.ts";
import { acceptsUnboundValues, deleteMeta } from "../store/db/meta.ts";
import type { Database } from "../store/db/database.ts";
import { countOlderFingerprints, everythingSealed, replaceSealed, type Sealed } from "../store/apps/sealed.ts";
import { OperatorError } from "./operator-error.ts";

/** Rows per transaction. Few, because the running service waits for the write lock. */
const BATCH = 100;
/** If this many passes still find older keys, a running service must be encrypting with one. */
const PASSES = 3;

export interface Resealed {
  /** Id of the newest key. Everything is encrypted with it now, for its own row. */
  key: string;
  resealed: number;
  /** Values that already used the newest key and named their row. */
  unchanged: number;
  /** Idempotency keys that only an older key can check. */
  idempotency_keys: number;
}

/**
 * Re-encrypts every value that uses an older key, or that names no row because an earlier version wrote it. From then on values
 * that name no row are refused: somebody who can write to the database could still move those. After an interruption the next run
 * continues. The service may run: a value that it changes in the meantime is left alone and checked again in the next pass.
 * @throws OperatorError when a value cannot be decrypted, or a running service still encrypts with an older key.
 */
export async function reseal(deps: { database: Database; sealer: Sealer }): Promise<Resealed> {
  const { database, sealer } = deps;
  let resealed = 0;
  for (let pass = 0; pass < PASSES; pass++) {
    let [older, unchanged] = [0, 0];
    for await (const page of everythingSealed(database.read, BATCH)) {
      const due = page.filter(({ sealed }) => !sealer.isCurrent(sealed));
      unchanged += page.length - due.length;
      older += due.length;
      resealed += await resealPage(deps, due);
    }
    if (older > 0) continue;
    await database.write((trx) => deleteMeta(trx, "unbound_values"));
    const fingerprints = await countOlderFingerprints(database.read, sealer.newestKey);
    return { key: sealer.newestKey, resealed, unchanged: unchanged - resealed, idempotency_keys: fingerprints };
  }
  throw new OperatorError(
    "A running service still encrypts with an older key. Restart it with the SECRET_KEYS of this command, then run this " +
      "command again. Values that were re-encrypted stay so.",
  );
}

async function resealPage(
  { database, sealer }: { database: Database; sealer: Sealer },
  due: Sealed[],
): Promise<number> {
  if (due.length === 0) return 0;
  const resealed: [Sealed, string][] = [];
  const acceptsUnbound = () => acceptsUnboundValues(database.read);
  for (const one of due)
    resealed.push([one, await sealer.seal(await open(sealer, one, acceptsUnbound), sealedPlace(one.kind, one.id))]);
  return database.write(async (trx) => {
    let replaced = 0;
    for (const [one, text] of resealed) if (await replaceSealed(trx, one, text)) replaced += 1;
    return replaced;
  });
}

async function open(sealer: Sealer, one: Sealed, acceptsUnbound: () => Promise<boolean>): Promise<string> {
  const { kind, id, sealed } = one;
  try {
    return await sealer.open(sealed, sealedPlace(kind, id), acceptsUnbound);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const what = kind === "webhook" ? `The secrets of webhook ${id}` : `The unlockable content of request ${id}`;
    throw new OperatorError(
      `${what} cannot be decrypted: ${error.message}. Keep every older key in SECRET_KEYS, after the newest. Values that were re-encrypted stay so.`,
    );
  }
}
