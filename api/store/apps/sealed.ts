import { pagesAfter } from "../db/pages.ts";
import type { Db, Trx } from "../db/sql.ts";

/** An encrypted value (JWE) of the database. */
export interface Sealed {
  kind: "unlockable" | "webhook";
  /** Id of the request, or of the webhook. */
  id: string;
  sealed: string;
}

/** All encrypted values, page by page. Values that are added during the walk may be missing. */
export async function* everythingSealed(db: Db, pageSize: number): AsyncGenerator<Sealed[]> {
  const webhooks = (after: string) =>
    db
      .selectFrom("webhooks")
      .select(["id", "secrets as sealed"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
  for await (const page of pagesAfter("", webhooks, ({ id }) => id)) {
    yield page.map((row) => ({ kind: "webhook", ...row }));
  }
  const requests = (after: number) =>
    db
      .selectFrom("requests")
      .select(["seq", "id", "unlockable"])
      .where("unlockable", "is not", null)
      .where("seq", ">", after)
      .$narrowType<{ unlockable: string }>()
      .orderBy("seq")
      .limit(pageSize)
      .execute();
  for await (const page of pagesAfter(0, requests, ({ seq }) => seq)) {
    yield page.map(({ id, unlockable }) => ({ kind: "unlockable", id, sealed: unlockable }));
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
          .where("id", "=", id)
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
