import type { WalletRow } from "../../store/db/schema.ts";

export function presentWallet(row: WalletRow) {
  return { address: row.address, user_identifier: row.user_identifier };
}
