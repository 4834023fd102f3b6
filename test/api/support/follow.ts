import type { CollectionType } from "../../../api/domain/command.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { followContracts } from "../../../api/store/ledger/follow.ts";
import { randomAddress } from "./rows.ts";

/** Makes an app follow a contract whose type is known, from the block after the checkpoint. */
export async function follow(
  database: Database,
  options: { app: string; address?: string; type?: CollectionType; name?: string | null },
): Promise<string> {
  const { app: appId, address = randomAddress(), type = "ERC721", name = null } = options;
  const contracts = new Map([[address, { type, name }]]);
  await database.write((trx) => followContracts(trx, { appId, contracts, quota: 1_000, now: 1 }));
  return address;
}

/** Adds a wallet row of an app. */
export async function addWalletRow(database: Database, app: string, address = randomAddress()): Promise<string> {
  const row = { address, app_id: app, user_identifier: null, path: "0/0/0", created_at: 1 };
  await database.write((trx) => trx.insertInto("wallets").values(row).execute());
  return address;
}
