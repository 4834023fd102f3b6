import type { z } from "zod";

import type { StoredToken } from "../../store/apps/api-tokens.ts";
import type { token } from "../schemas/tokens.ts";
import { isoTime } from "./time.ts";

/** The token without its secret. */
export function presentToken(
  row: Pick<
    StoredToken,
    "id" | "name" | "scopes" | "rate_limit_per_minute" | "created_at" | "expires_at" | "revoked_at"
  >,
): z.input<typeof token> {
  return {
    token_id: row.id,
    name: row.name,
    scopes: [...row.scopes],
    rate_limit_per_minute: row.rate_limit_per_minute,
    created_at: isoTime(row.created_at),
    expires_at: row.expires_at === null ? null : isoTime(row.expires_at),
    revoked_at: row.revoked_at === null ? null : isoTime(row.revoked_at),
  };
}
