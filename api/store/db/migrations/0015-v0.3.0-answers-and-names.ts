import { type Kysely, sql } from "kysely";

import { parseExact } from "../../../../client/rules/exact-json.ts";
import { schemaKit } from "./kit.ts";

/** Tokens whose metadata one statement reads, and the largest metadata that is read, in bytes. */
const [PAGE, LARGEST] = [100, 262_144];
/** Characters of a name by which its token can be found. */
const SEARCHED = 64;

/**
 * What receivers answered to the last tries of deliveries: nothing is known of earlier ones. And how the names of tokens begin,
 * as their pages show them: tokens that exist get theirs here. The index is as those of migration 0013, and has only tokens
 * that are on chain and not burnt.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT } = schemaKit(db);
  const type = typeof TEXT === "string" ? sql.raw(TEXT) : TEXT;
  await sql`alter table deliveries add column response_body ${type}`.execute(db);
  await sql`alter table nfts add column search_name ${type}`.execute(db);
  await addNames(db);
  await sql`create index nfts_search on nfts (contract, (lower(substr(search_name, 1, 64))), seq)
    where search_name is not null and minted_block is not null and supply <> '0'`.execute(db);
}

async function addNames(db: Kysely<unknown>): Promise<void> {
  for (let after = 0; ;) {
    const { rows } = await sql<{ seq: number; token_id: string; metadata: string }>`
      select seq, token_id, metadata from nfts
       where seq > ${after} and octet_length(metadata) <= ${sql.lit(LARGEST)} and metadata like '%"name"%'
       order by seq limit ${sql.lit(PAGE)}`.execute(db);
    const names = rows.flatMap(({ seq, token_id: id, metadata }) => {
      const name = nameOf(metadata, id);
      return name === null ? [] : [sql`(cast(${seq} as bigint), ${name})`];
    });
    if (names.length > 0)
      await sql`
        update nfts set search_name = input.column2
          from (values ${sql.join(names)}) as input where nfts.seq = input.column1`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
}

function nameOf(metadata: string, tokenId: string): string | null {
  const name = rawNameOf(metadata);
  if (typeof name !== "string") return null;
  const shown = name.slice(0, 20 * SEARCHED).replaceAll("{token_id}", tokenId);
  const beginning = Array.from(shown.slice(0, 2 * SEARCHED))
    .slice(0, SEARCHED)
    .join("");
  return beginning !== "" && beginning.isWellFormed() && !beginning.includes("\0") ? beginning : null;
}

/** Damaged metadata have none: they must not stop the update. */
function rawNameOf(metadata: string): unknown {
  try {
    return (parseExact(metadata) as { name?: unknown }).name;
  } catch (error) {
    // A RangeError: nested too deep.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}
