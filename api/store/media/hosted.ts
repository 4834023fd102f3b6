import type { Db } from "../db/engine.ts";

/** Rows read at once. */
const PAGE = 500;

/** CIDs of the content that is hosted here, in pages. */
export async function* hostedContent(db: Db): AsyncGenerator<string> {
  for (let after = ""; ;) {
    const search = db.selectFrom("pins").select("cid").where("hosted", "=", 1).where("cid", ">", after);
    const rows = await search.orderBy("cid").limit(PAGE).execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.cid;
    for (const { cid } of rows) yield cid;
  }
}
