import type { Db } from "../db/sql.ts";

/** An encrypted value, and a description of where it is. */
interface SealedSample {
  kind: "webhook" | "unlockable";
  /** Id of the webhook, or of the request. */
  id: string;
  sealed: string;
  where: string;
}

/** A sample of the encrypted values: webhook secrets, and unlockable content of the oldest and the newest requests. */
export async function sealedSample(db: Db, most: number): Promise<SealedSample[]> {
  const webhooks = await db.selectFrom("webhooks").select(["id", "secrets as sealed"]).limit(most).execute();
  const content = db
    .selectFrom("requests")
    .select(["id", "unlockable"])
    .where("unlockable", "is not", null)
    .limit(most);
  const oldest = await content.orderBy("seq").execute();
  const newest = await content.orderBy("seq", "desc").execute();
  const requests = new Map([...oldest, ...newest].map((row) => [row.id, row.unlockable ?? ""]));
  return [
    ...webhooks.map(({ id, sealed }) => ({
      kind: "webhook" as const,
      id,
      sealed,
      where: `the secrets of webhook ${id}`,
    })),
    ...Array.from(requests, ([id, sealed]) => ({
      kind: "unlockable" as const,
      id,
      sealed,
      where: `the unlockable content of request ${id}`,
    })),
  ];
}

/** A sample of wallets: those of the oldest and the newest whose keys come from the seed. */
export async function walletSample(db: Db, most: number): Promise<{ address: string; path: string }[]> {
  const wallets = db.selectFrom("wallets").select(["address", "path"]).limit(most);
  const sample = [...(await wallets.orderBy("seq").execute()), ...(await wallets.orderBy("seq", "desc").execute())];
  return sample.filter(({ path }) => path !== "");
}
