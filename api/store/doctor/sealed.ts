import type { Db } from "../db/sql.ts";

/** An encrypted value, and a description of where it is. */
interface SealedSample {
  kind: "webhook" | "unlockable";
  /** Id of the app that has the webhook, or of the request. */
  id: string;
  sealed: string;
  where: string;
}

/** A sample of the encrypted values: webhook secrets, and unlockable content of the oldest and the newest requests. */
export async function sealedSample(db: Db, most: number): Promise<SealedSample[]> {
  const webhooks = await db.selectFrom("webhooks").select(["app_id", "secrets"]).limit(most).execute();
  const content = () =>
    db.selectFrom("requests").select(["id", "seq", "unlockable"]).where("unlockable", "is not", null).limit(most);
  const oldest = await content().orderBy("seq").execute();
  const newest = await content().orderBy("seq", "desc").execute();
  const requests = new Map([...oldest, ...newest].map((row) => [row.id, row.unlockable ?? ""]));
  return [
    ...webhooks.map((row) => ({
      where: `the webhook secrets of app ${row.app_id}`,
      kind: "webhook" as const,
      id: row.app_id,
      sealed: row.secrets,
    })),
    ...[...requests].map(([id, sealed]) => ({
      where: `the unlockable content of request ${id}`,
      kind: "unlockable" as const,
      id,
      sealed,
    })),
  ];
}

/** A sample of wallets: the oldest and the newest. */
export async function walletSample(db: Db, most: number): Promise<{ address: string; path: string }[]> {
  const oldest = await db.selectFrom("wallets").select(["address", "path"]).orderBy("seq").limit(most).execute();
  const newest = await db
    .selectFrom("wallets")
    .select(["address", "path"])
    .orderBy("seq", "desc")
    .limit(most)
    .execute();
  return [...oldest, ...newest];
}
