import type { CreateCollection } from "../domain/command.ts";
import type { Trx } from "./engine.ts";
import type { RequestRow } from "./schema.ts";

/** The collection that a request made, as the command asked for it. It is listed once its block is deep enough. */
export async function insertCollection(
  trx: Trx,
  request: RequestRow,
  command: CreateCollection,
  made: { address: string; owner: string; blockNumber: number; createdAt: number },
): Promise<void> {
  await trx
    .insertInto("collections")
    .values({
      address: made.address,
      app_id: request.app_id,
      request_id: request.id,
      type: command.type,
      hosting: command.hosting,
      name: command.name,
      symbol: command.symbol,
      max_supply: command.maxSupply,
      minted: 0,
      reserved: 0,
      owner: made.owner,
      base_uri: command.baseUri,
      collection_uri: command.collectionUri,
      metadata: JSON.stringify(command.metadata),
      service_may_mint: 1,
      service_is_steward: command.newOwner === null ? 1 : 0,
      metadata_frozen: 0,
      listed: 0,
      block_number: made.blockNumber,
      created_at: made.createdAt,
    })
    .execute();
}
