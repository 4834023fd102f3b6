import { sql } from "kysely";

import { readMeta } from "../db/meta.ts";
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

/** How many keys were imported, how many of them no backup has, and the wallet of the newest one. */
export async function importedKeys(db: Db): Promise<{ count: number; unsaved: number; newest: string | null }> {
  const saved = Number((await readMeta(db, "imported_keys_saved")) ?? 0);
  const { rows } = await sql<{ count: number; unsaved: number; newest: string | null }>`
    select count(*) as count, count(case when id > ${saved} then 1 end) as unsaved,
           (select wallet from imported_keys order by id desc limit 1) as newest
      from imported_keys`.execute(db);
  return rows[0] ?? { count: 0, unsaved: 0, newest: null };
}
