import { addToCounters, counterKeys } from "../db/counters.ts";
import type { Db, Trx } from "../db/sql.ts";
import { toCommand } from "../requests/requests.ts";

/** Rows read at once. */
const HOSTED_PAGE = 500;

/** CIDs of the content that is hosted here, in pages. */
export async function* hostedContent(db: Db): AsyncGenerator<string> {
  for (let after = ""; ;) {
    const search = db.selectFrom("pins").select("cid").where("hosted", "=", 1).where("cid", ">", after);
    const rows = await search.orderBy("cid").limit(HOSTED_PAGE).execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.cid;
    for (const { cid } of rows) yield cid;
  }
}

/** Rows read at once. */
const ROOTS_PAGE = 500;

/**
 * Every text that may name hosted content: URIs, and the strings inside the metadata of tokens and collections and inside
 * the commands of requests that are not final.
 */
export async function* textsThatNameContent(db: Db): AsyncGenerator<string> {
  for await (const row of pages((after) => nfts(db, after))) yield* stringsIn([parsed(row.metadata), row.token_uri]);
  for await (const row of pages((after) => collections(db, after))) {
    yield* stringsIn([parsed(row.metadata), row.base_uri, row.collection_uri]);
  }
  for await (const row of pages((after) => unsettled(db, after))) {
    const command = toCommand(row.command);
    // The directory of a freeze that is not final yet is named by its bare CID.
    if (command.kind === "freeze-metadata" && command.directory !== null) yield `ipfs://${command.directory}`;
    yield* stringsIn(command);
  }
}

/** CIDs of the files that were stored here, in pages. */
export async function* storedFiles(db: Db): AsyncGenerator<string> {
  for (let after = ""; ;) {
    const rows = await db
      .selectFrom("media")
      .select("cid")
      .where("cid", ">", after)
      .orderBy("cid")
      .limit(ROOTS_PAGE)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.cid;
    for (const { cid } of rows) yield cid;
  }
}

/** The file counts no longer among the bytes that its apps store. */
export async function forgetFile(trx: Trx, cid: string): Promise<void> {
  await trx.deleteFrom("media").where("cid", "=", cid).execute();
  const copies = await trx.deleteFrom("app_media").where("cid", "=", cid).returning(["app_id", "size"]).execute();
  await addToCounters(trx, new Map(copies.map(({ app_id, size }) => [counterKeys.mediaBytes(app_id), -size])));
}

async function* pages<R extends { seq: number }>(read: (after: number) => Promise<R[]>): AsyncGenerator<R> {
  for (let rows = await read(0); rows.length > 0; rows = await read(rows.at(-1)?.seq ?? 0)) yield* rows;
}

function nfts(db: Db, after: number) {
  const query = db.selectFrom("nfts").select(["seq", "metadata", "token_uri"]).where("seq", ">", after);
  return query.orderBy("seq").limit(ROOTS_PAGE).execute();
}

function collections(db: Db, after: number) {
  const query = db.selectFrom("collections").select(["seq", "metadata", "base_uri", "collection_uri"]);
  return query.where("seq", ">", after).orderBy("seq").limit(ROOTS_PAGE).execute();
}

function unsettled(db: Db, after: number) {
  const query = db.selectFrom("requests").select(["seq", "command"]).where("status", "in", ["pending", "processing"]);
  return query.where("seq", ">", after).orderBy("seq").limit(ROOTS_PAGE).execute();
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
