import { sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import type { Db } from "../db/engine.ts";

/** What a transfer starts from: looked up in one statement, because every transfer does. */
export interface TransferSource {
  /** Whether the address is a wallet of this app. */
  ownsWallet: boolean;
  /** The type of the service's collection at this address, of any app; null for a foreign contract. */
  collectionType: CollectionType | null;
}

export async function findTransferSource(
  db: Db,
  appId: string,
  { wallet, contract }: { wallet: string; contract: string },
): Promise<TransferSource> {
  const { rows } = await sql<{ owned: number; type: CollectionType | null }>`
    select (select count(*) from wallets where address = ${wallet} and app_id = ${appId}) as owned,
           (select type from collections where address = ${contract}) as type`.execute(db);
  const [row] = rows;
  return { ownsWallet: (row?.owned ?? 0) > 0, collectionType: row?.type ?? null };
}
