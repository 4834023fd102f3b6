import { sql } from "kysely";

import { CounterDeltas, counterKeys } from "../db/counters.ts";
import { rowsAfter } from "../db/pages.ts";
import { type Db, forUpdateSkipLocked, textSet, type Trx } from "../db/sql.ts";
import { toCommand } from "../requests/requests.ts";

/** Rows read at once. */
const PAGE = 500;

/** CIDs of the content that is hosted here. */
export async function* hostedContent(db: Db): AsyncGenerator<string> {
  const pins = db.selectFrom("pins").select("cid").where("hosted", "=", 1).orderBy("cid").limit(PAGE);
  const read = (after: string) => pins.where("cid", ">", after).execute();
  for await (const { cid } of rowsAfter("", read, (row) => row.cid)) yield cid;
}

/**
 * Every text that may name hosted content: URIs, and the strings inside the metadata of tokens and collections and inside
 * the commands of requests that are not final.
 */
export async function* textsThatNameContent(db: Db): AsyncGenerator<string> {
  for await (const row of rowsOf((after) => nfts(db, after))) yield* stringsIn([parsed(row.metadata), row.token_uri]);
  for await (const row of rowsOf((after) => collections(db, after))) {
    yield* stringsIn([parsed(row.metadata), row.base_uri, row.collection_uri]);
  }
  for await (const row of rowsOf((after) => unsettled(db, after))) {
    const command = toCommand(row.command);
    // The directory of a freeze that is not final yet is named by its bare CID.
    if (command.kind === "freeze-metadata" && command.directory !== null) yield `ipfs://${command.directory}`;
    yield* stringsIn(command);
  }
}

/** CIDs of the files that were stored here. */
export async function* storedFiles(db: Db): AsyncGenerator<string> {
  const files = db.selectFrom("media").select("cid").orderBy("cid").limit(PAGE);
  const read = (after: string) => files.where("cid", ">", after).execute();
  for await (const { cid } of rowsAfter("", read, (row) => row.cid)) yield cid;
}

/** The file is not hosted any more. `releaseForgotten` takes it from the bytes that its apps store. */
export async function forgetFile(trx: Trx, cid: string): Promise<void> {
  await trx.deleteFrom("media").where("cid", "=", cid).execute();
  await trx
    .insertInto("forgotten_media")
    .values({ cid })
    .onConflict((conflict) => conflict.column("cid").doNothing())
    .execute();
}

/** Whether any file must still be released. */
export async function hasForgotten(db: Db): Promise<boolean> {
  return (await db.selectFrom("forgotten_media").select("cid").limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Files that are not hosted any more count no longer for their apps. A file that is hosted again goes on counting.
 * @returns how many files were found.
 */
export async function releaseForgotten(trx: Trx, limit: number): Promise<number> {
  const { rows } = await sql<{ cid: string }>`
    select cid from forgotten_media order by cid limit ${limit} ${forUpdateSkipLocked(trx, "forgotten_media")}`.execute(
    trx,
  );
  if (rows.length === 0) return 0;
  const cids = textSet(
    trx,
    rows.map(({ cid }) => cid),
  );
  const { rows: copies } = await sql<{ app_id: string; size: number }>`
    delete from app_media where cid in ${cids} and cid not in (select cid from media where cid in ${cids})
    returning app_id, size`.execute(trx);
  const counters = new CounterDeltas();
  for (const { app_id: app, size } of copies) counters.add(counterKeys.mediaBytes(app), -size);
  await counters.flush(trx);
  await sql`delete from forgotten_media where cid in ${cids}`.execute(trx);
  return rows.length;
}

function rowsOf<R extends { seq: number }>(read: (after: number) => Promise<R[]>): AsyncGenerator<R> {
  return rowsAfter(0, read, ({ seq }) => seq);
}

function nfts(db: Db, after: number) {
  const query = db.selectFrom("nfts").select(["seq", "metadata", "token_uri"]).where("seq", ">", after);
  return query.orderBy("seq").limit(PAGE).execute();
}

function collections(db: Db, after: number) {
  const query = db.selectFrom("collections").select(["seq", "metadata", "base_uri", "collection_uri"]);
  return query.where("seq", ">", after).orderBy("seq").limit(PAGE).execute();
}

function unsettled(db: Db, after: number) {
  const query = db.selectFrom("requests").select(["seq", "command"]).where("status", "in", ["pending", "processing"]);
  return query.where("seq", ">", after).orderBy("seq").limit(PAGE).execute();
}

function parsed(json: string | null): unknown {
  return json === null ? null : (JSON.parse(json) as unknown);
}

/** All strings in a value, names of fields among them. */
function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    yield name;
    yield* stringsIn(item);
  }
}
