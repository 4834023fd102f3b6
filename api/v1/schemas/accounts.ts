import { z } from "zod";

import type { Limits } from "../../config/limits.ts";
import { optional, text } from "./inputs.ts";
import { address } from "./outputs.ts";
import { pageFrameFields, pageOf } from "./pages.ts";

export function createAccountBody(limits: Limits) {
  return z
    .strictObject({
      user_identifier: optional(text(limits.userIdentifier, 1)).meta({
        description: "The app's own name for the user who has the wallet. Unique in the app.",
      }),
    })
    .meta({ id: "CreateWallet" });
}

const user = z
  .string()
  .nullable()
  .meta({ description: "The app's own name for the user. null for a wallet without one." });

export const account = z.object({ address, user_identifier: user }).meta({ id: "Wallet" });

export const accountsPage = z.object({ wallets: pageOf(account), ...pageFrameFields }).meta({ id: "WalletsPage" });
