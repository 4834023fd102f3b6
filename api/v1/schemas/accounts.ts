import { z } from "zod";

import type { Limits } from "../../config/limits.ts";
import { optional, refuse, text } from "./inputs.ts";
import { address } from "./outputs.ts";
import { pageFrameFields, pageOf } from "./pages.ts";

/** In a URL these mean another path, also when they are percent-encoded, so `/v1/accounts/user/..` would never arrive. */
const DOTS = new Set([".", ".."]);
const NOT_DOTS = "Must not be `.` or `..`, which have a meaning of their own in URLs.";

export function createAccountBody(limits: Limits) {
  return z
    .strictObject({
      user_identifier: optional(
        text(limits.userIdentifier, 1).check((context) => {
          if (DOTS.has(context.value)) refuse(context, "invalid_format", NOT_DOTS);
        }),
      ).meta({
        description: "The app's own name for the user who has the wallet. Unique in the app. Not `.` or `..`.",
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
