import { z } from "zod";

import { toWireInteger } from "../../domain/token.ts";
import type { WalletRow } from "../../store/db/schema.ts";
import type { ExportedHolding } from "../../store/listings/exports.ts";
import { isoTime } from "../present.ts";
import { address, integer, isFinal, time, watchOnly } from "../schemas/outputs.ts";

// The names come first: then a spreadsheet that splits lines at semicolons still sees the quotes around them.
const user = z.string().nullable();

export const exportedHolding = z
  .object({
    user_identifier: user.describe("The app's user who has the owner's wallet. null: the owner has no such wallet."),
    address: address.describe("The owner."),
    token_id: integer.describe("The token that the owner has."),
    quantity: integer.describe("Copies that the owner has; 1 for ERC721."),
    since_block: z.int().describe("Block in which the owner got the token, without giving all copies away since."),
    final: isFinal("the last change of the quantity"),
  })
  .meta({ id: "ExportedHolding", description: "A row of the export of holders." });

export const exportedWallet = z
  .object({
    user_identifier: user.describe("The app's own name for the user. null for a wallet without one."),
    address,
    created_at: time,
    watch_only: watchOnly,
  })
  .meta({ id: "ExportedWallet", description: "A row of the export of wallets." });

export function presentExportedHolding(row: ExportedHolding) {
  return {
    user_identifier: row.user_identifier,
    address: row.owner,
    token_id: toWireInteger(row.token_id),
    quantity: toWireInteger(row.quantity),
    since_block: row.since_block,
    final: row.is_final === 1,
  } satisfies z.input<typeof exportedHolding>;
}

export function presentExportedWallet(row: WalletRow) {
  return {
    user_identifier: row.user_identifier,
    address: row.address,
    created_at: isoTime(row.created_at),
    watch_only: row.watch_only === 1,
  } satisfies z.input<typeof exportedWallet>;
}
