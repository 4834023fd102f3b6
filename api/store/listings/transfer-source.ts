import { sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import { type Db, rowSet } from "../db/sql.ts";

/** The places of a transfer or burn: the wallet that sends, and the token's contract. */
export interface TransferPlaces {
  appId: string;
  wallet: string;
  contract: string;
}

/** What a transfer or burn starts from: looked up in one statement, because every one does. */
export interface TransferSource {
  /** Whether the address is a wallet of this app. */
  ownsWallet: boolean;
  /** Whether the key of the wallet is elsewhere. */
  watchOnly: boolean;
  /** The type of the service's collection at this address, of any app; null for a foreign contract, also an adopted one. */
  collectionType: CollectionType | null;
  /** Whether the service's collection does not allow transfers. */
  soulbound: boolean;
  /** Whether the service's collection has `burnWithAuthorization`. */
  signedBurns: boolean;
}

/** The sources of transfers that arrive together, in their order. */
export async function findTransferSources(db: Db, transfers: readonly TransferPlaces[]): Promise<TransferSource[]> {
  const columns = { app_id: "text", wallet: "text", contract: "text" } as const;
  const wanted = transfers.map(({ appId, wallet, contract }) => ({ app_id: appId, wallet, contract }));
  const { rows } = await sql<{
    owned: number;
    watch_only: number | null;
    type: CollectionType | null;
    soulbound: number | null;
    burns: number | null;
  }>`
    select case when wallets.app_id = input.app_id then 1 else 0 end as owned, wallets.watch_only as watch_only,
           collections.type as type, collections.soulbound as soulbound, collections.signed_burns as burns
      from ${rowSet(db, columns, wanted)} as input
      left join wallets on wallets.address = input.wallet
      left join collections on collections.address = input.contract and collections.adopted = 0
     order by input.ord`.execute(db);
  return rows.map(({ owned, watch_only: watchOnly, type, soulbound, burns }) => ({
    ownsWallet: owned === 1,
    watchOnly: watchOnly === 1,
    collectionType: type,
    soulbound: soulbound === 1,
    signedBurns: burns === 1,
  }));
}
