import { sql } from "kysely";

import type { Command } from "../../domain/command.ts";
import { storedBytesOf } from "../../domain/quota.ts";
import { addToCounter, counterKeys } from "../db/counters.ts";
import { type Db, forUpdate, type Trx } from "../db/sql.ts";
import { retryParked } from "../db/under-way.ts";
import { readableMetadata, toCommand } from "./requests.ts";

/** What is stored of a request whose command may be unreadable. */
export interface StoredTexts {
  isReadable: boolean;
  number: bigint | null;
  /** A signed transaction that carried it. */
  raw: string | null;
  /** What can be read of its metadata, else that of the token or collection that it has made; null: neither. */
  metadata: unknown;
}

/** @returns null when there is no such request. */
export async function storedTexts(db: Db, id: string): Promise<StoredTexts | null> {
  const { rows } = await sql<{ command: string; number: string | null; raw: string | null; metadata: string | null }>`
    select command, number,
           (select raw from attempts where batch_id = requests.batch_id and raw is not null
             order by attempts.id desc limit 1) as raw,
           coalesce((select nfts.metadata from nfts
                      where nfts.contract = nft_collection and nfts.token_id = nft_token_id and nfts.request_id = requests.id),
                    (select collections.metadata from collections
                      where collections.address = nft_collection and collections.request_id = requests.id)) as metadata
      from requests where id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const made: unknown = row.metadata === null ? null : JSON.parse(row.metadata);
  return {
    isReadable: isReadable(row.command),
    number: row.number === null ? null : BigInt(row.number),
    raw: row.raw,
    metadata: readableMetadata(row.command) ?? made,
  };
}

function isReadable(command: string): boolean {
  try {
    toCommand(command);
    return true;
  } catch {
    return false;
  }
}

/** Gives a request another command. Its worker tries it again at once. */
export async function replaceCommand(trx: Trx, id: string, command: Command): Promise<void> {
  const row = await trx
    .selectFrom("requests")
    .select(["app_id", "status", "unlockable", "stored_bytes"])
    .where("id", "=", id)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirstOrThrow();
  const bytes = storedBytesOf(command, row.unlockable);
  await trx
    .updateTable("requests")
    .set({ command: JSON.stringify(command), stored_bytes: bytes })
    .where("id", "=", id)
    .execute();
  if (row.status !== "failed") await addToCounter(trx, counterKeys.storedBytes(row.app_id), bytes - row.stored_bytes);
  await retryParked(trx, "request", id);
}
