import { type Kysely, sql } from "kysely";

import { engineOf } from "../sql.ts";
import { INT, schemaKit } from "./kit.ts";

/** `schema.ts` says what the columns mean. Requests that exist get them here, from their commands, errors and events. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, uniquePartialIndex } = schemaKit(db);
  for (const column of ["quantity", "retry_of", "retried_by"])
    await db.schema.alterTable("requests").addColumn(column, TEXT).execute();
  for (const column of ["copies_media", "corrected"])
    await db.schema
      .alterTable("requests")
      .addColumn(column, INT, (c) => c.notNull().defaultTo(sql.lit(0)))
      .execute();
  await uniquePartialIndex("requests_retry_of", "requests (retry_of)", "retry_of is not null");
  // The quantity stands in the command before the metadata, which may have anything in it. A mint of ERC721 has none.
  const quantity =
    engineOf(db) === "postgres"
      ? sql`case when command like '{"kind":"mint-erc721"%' then '1' else substring(command from '"quantity":"([0-9]+)"') end`
      : sql`case when json_valid(command) then
              case when json_extract(command, '$.kind') = 'mint-erc721' then '1' else json_extract(command, '$.quantity') end
            end`;
  await sql`update requests set quantity = ${quantity} where type in ('mint', 'transfer', 'burn')`.execute(db);
  await sql`
    update requests set copies_media = 1
     where type = 'mint' and status = 'failed' and (error_code like 'media_%' or errors like '%"field":"copy_media"%')`.execute(
    db,
  );
  await sql`
    update requests set corrected = 1 where id in (select request_id from events where type = 'corrected')`.execute(db);
}
