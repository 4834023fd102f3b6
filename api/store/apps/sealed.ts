import type { Db, Trx } from "../db/sql.ts";

/** An encrypted value (JWE) of the database. */
export interface Sealed {
  kind: "unlockable" | "webhook";
  /** Id of the request, or of the app that has the webhook. */
  id: string;
  sealed: string;
}

/** All encrypted values, page by page. Values that are added during the walk may be missing. */
export async function* everythingSealed(db: Db, pageSize: number): AsyncGenerator<Sealed[]> {
  yield* webhookSecrets(db, pageSize);
  let after = 0;
  for (;;) {
    const page = await db
      .selectFrom("requests")
      .select(["seq", "id", "unlockable"])
      .where("unlockable", "is not", null)
      .where("seq", ">", after)
      .$narrowType<{ unlockable: string }>()
      .orderBy("seq")
      .limit(pageSize)
      .execute();
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map(({ id, unlockable }) => ({ kind: "unlockable", id, sealed: unlockable }));
    after = last.seq;
  }
}

async function* webhookSecrets(db: Db, pageSize: number): AsyncGenerator<Sealed[]> {
  let after = "";
  for (;;) {
    const page = await db
      .selectFrom("webhooks")
      .select(["app_id", "secrets"])
      .where("app_id", ">", after)
      .orderBy("app_id")
      .limit(pageSize)
      .execute();
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map(({ app_id: id, secrets }) => ({ kind: "webhook", id, sealed: secrets }));
    after = last.app_id;
  }
}

/**
 * Replaces an encrypted value by `resealed`.
 * @returns false when another process has changed the value since it was read.
 */
export async function replaceSealed(trx: Trx, { kind, id, sealed }: Sealed, resealed: string): Promise<boolean> {
  const updated =
    kind === "webhook"
      ? await trx
          .updateTable("webhooks")
          .set({ secrets: resealed })
          .where("app_id", "=", id)
          .where("secrets", "=", sealed)
          .executeTakeFirst()
      : await trx
          .updateTable("requests")
          .set({ unlockable: resealed })
          .where("id", "=", id)
          .where("unlockable", "=", sealed)
          .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** Counts the fingerprints of idempotency keys that an older secret key made. */
export async function countOlderFingerprints(db: Db, newestKey: string): Promise<number> {
  const { count } = await db
    .selectFrom("idempotency_keys")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("fingerprint", "not like", `${newestKey}:%`)
    .executeTakeFirstOrThrow();
  return Number(count);
}
