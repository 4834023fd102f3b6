import type { Db, Trx } from "../db/engine.ts";

/** Something that rests sealed. */
export interface Sealed {
  kind: "unlockable" | "webhook";
  /** Of the request, or of the webhook's app. */
  id: string;
  sealed: string;
}

/** Everything sealed, page by page. What is added meanwhile by others may come or not. */
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

/** Puts `anew` in the place of what was sealed before. @returns false when it was changed meanwhile. */
export async function replaceSealed(trx: Trx, { kind, id, sealed }: Sealed, anew: string): Promise<boolean> {
  const updated =
    kind === "webhook"
      ? await trx
          .updateTable("webhooks")
          .set({ secrets: anew })
          .where("app_id", "=", id)
          .where("secrets", "=", sealed)
          .executeTakeFirst()
      : await trx
          .updateTable("requests")
          .set({ unlockable: anew })
          .where("id", "=", id)
          .where("unlockable", "=", sealed)
          .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** Fingerprints of idempotency keys that were made with another key than this one. */
export async function countOlderFingerprints(db: Db, newestKey: string): Promise<number> {
  const { count } = await db
    .selectFrom("idempotency_keys")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("fingerprint", "not like", `${newestKey}:%`)
    .executeTakeFirstOrThrow();
  return Number(count);
}
