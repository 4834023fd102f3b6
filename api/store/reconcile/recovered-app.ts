import { addToCounter, advanceSequences, counterKeys } from "../db/counters.ts";
import type { Db, Trx } from "../db/sql.ts";
import { skipTokenEvents } from "../ledger/token-events.ts";

/** Owns the collections on chain whose app is unknown. It has no token, so nobody can call the API as this app. */
export const RECOVERED_APP = "recovered";

/** Positions that all feeds skip, so that a cursor from after the backup is before every new event. */
const FEED_GAP = 1_000_000;

/** Moves every app's feed past the positions that were used after the backup. Movements that were told then get no events again. */
export async function skipFeeds(trx: Trx): Promise<void> {
  await skipTokenEvents(trx);
  const apps = await trx.selectFrom("apps").select("id").where("id", "<>", RECOVERED_APP).execute();
  await advanceSequences(trx, new Map(apps.map(({ id }) => [counterKeys.events(id), FEED_GAP])));
}

/** Gives the collections of the recovered app to an app. @returns their addresses. */
export async function giveCollections(trx: Trx, app: string): Promise<string[]> {
  const given = await trx
    .updateTable("collections")
    .set({ app_id: app })
    .where("app_id", "=", RECOVERED_APP)
    .returning(["address", "listed"])
    .execute();
  const listed = given.filter((collection) => collection.listed === 1).length;
  await addToCounter(trx, counterKeys.collections(RECOVERED_APP), -listed);
  await addToCounter(trx, counterKeys.collections(app), listed);
  return given.map((collection) => collection.address);
}

export async function recoveredCollections(db: Db): Promise<string[]> {
  const rows = await db.selectFrom("collections").select("address").where("app_id", "=", RECOVERED_APP).execute();
  return rows.map((row) => row.address);
}
