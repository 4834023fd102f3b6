import { createHash } from "node:crypto";

import { type Kysely, sql } from "kysely";

import { parseExact } from "../../../../client/rules/exact-json.ts";
import { engineOf } from "../sql.ts";
import { INT, schemaKit } from "./kit.ts";

/** Tokens whose metadata one statement reads, and the largest metadata that is read, in bytes. */
const [PAGE, LARGEST] = [100, 262_144];
/** What is indexed of a token's attributes. */
const [MOST_TRAITS, LONGEST] = [32, 256];

/**
 * The traits of tokens, and the wallets of requests, for filters. Tokens and requests that exist get them here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, index, partialIndex } = schemaKit(db);
  await create("token_traits")
    .addColumn("trait", TEXT, (c) => c.notNull())
    .addColumn("token_seq", INT, (c) => c.notNull().references("nfts.seq").onDelete("cascade"))
    .addPrimaryKeyConstraint("token_traits_pk", ["trait", "token_seq"])
    .execute();
  await index("token_traits_token", "token_traits", ["token_seq"]);
  await db.schema.alterTable("requests").addColumn("from_address", TEXT).execute();
  await db.schema.alterTable("requests").addColumn("to_address", TEXT).execute();
  await addTraits(db);
  await addWallets(db);
  await partialIndex("requests_collection", "requests (app_id, nft_collection, seq)", "nft_collection is not null");
  await partialIndex("requests_from", "requests (app_id, from_address, seq)", "from_address is not null");
  await partialIndex("requests_to", "requests (app_id, to_address, seq)", "to_address is not null");
}

async function addTraits(db: Kysely<unknown>): Promise<void> {
  for (let after = 0; ;) {
    const { rows } = await sql<{ seq: number; contract: string; metadata: string }>`
      select seq, contract, metadata from nfts
       where seq > ${after} and minted_block is not null and supply <> '0'
         and octet_length(metadata) <= ${sql.lit(LARGEST)} and metadata like '%"trait_type"%'
       order by seq limit ${sql.lit(PAGE)}`.execute(db);
    const traits = rows.flatMap(({ seq, contract, metadata }) =>
      [...traitsOf(contract, metadata)].map((trait) => sql`(${trait}, cast(${seq} as bigint))`),
    );
    if (traits.length > 0)
      await sql`insert into token_traits (trait, token_seq) values ${sql.join(traits)}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
}

function traitsOf(contract: string, metadata: string): Set<string> {
  const traits = new Set<string>();
  const attributes = attributesOf(metadata);
  if (!Array.isArray(attributes)) return traits;
  for (const attribute of attributes as unknown[]) {
    if (typeof attribute !== "object" || attribute === null || !("trait_type" in attribute)) continue;
    const type = attribute.trait_type;
    const value = "value" in attribute ? textOf(attribute.value) : null;
    if (typeof type !== "string" || value === null || !isShort(type) || !isShort(value)) continue;
    const text = JSON.stringify([contract, type, value]);
    traits.add(createHash("sha256").update(text).digest("hex").slice(0, 32));
    if (traits.size === MOST_TRAITS) break;
  }
  return traits;
}

/** Damaged metadata have none: they must not stop the update. */
function attributesOf(metadata: string): unknown {
  try {
    return (parseExact(metadata) as { attributes?: unknown }).attributes;
  } catch (error) {
    // A RangeError: nested too deep.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && "rawJSON" in value) return String(value.rawJSON);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

function isShort(text: string): boolean {
  return text !== "" && Array.from(text).length <= LONGEST;
}

/** The addresses stand in the commands, before the metadata, which may have anything in it. */
async function addWallets(db: Kysely<unknown>): Promise<void> {
  const of = (name: string) =>
    engineOf(db) === "postgres"
      ? sql`substring(command from ${sql.lit(`"${name}":"(0x[0-9a-fA-F]{40})"`)})`
      : sql`case when json_valid(command) then json_extract(command, ${sql.lit(`$.${name}`)}) end`;
  await sql`update requests set from_address = ${of("from")}, to_address = ${of("to")} where type = 'transfer'`.execute(
    db,
  );
  await sql`update requests set to_address = ${of("to")} where type = 'mint'`.execute(db);
}
