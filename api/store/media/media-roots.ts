import { addToCounters, counterKeys } from "../db/counters.ts";
import { rowsAfter } from "../db/pages.ts";
import type { Db, Trx } from "../db/sql.ts";
import { toCommand } from "../requests/requests.ts";

/** Rows read at once. */
const PAGE = 500;

/** CIDs of the content that is hosted here. */
export async function* hostedContent(db: Db): AsyncGenerator<string> {
  const read = (after: string) =>
    db
      .selectFrom("pins")
      .select("cid")
      .where("hosted", "=", 1)
      .where("cid", ">", after)
      .orderBy("cid")
      .limit(PAGE)
      .execute();
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
  const read = (after: string) =>
    db.selectFrom("media").select("cid").where("cid", ">", after).orderBy("cid").limit(PAGE).execute();
  for await (const { cid } of rowsAfter("", read, (row) => row.cid)) yield cid;
}

/** The file counts no longer among the bytes that its apps store. */
export async function forgetFile(trx: Trx, cid: string): Promise<void> {
  await trx.deleteFrom("media").where("cid", "=", cid).execute();
  const copies = await trx.deleteFrom("app_media").where("cid", "=", cid).returning(["app_id", "size"]).execute();
  await addToCounters(trx, new Map(copies.map(({ app_id, size }) => [counterKeys.mediaBytes(app_id), -size])));
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
