import { z } from "zod";

import { SCOPES } from "../../commands/api-tokens.ts";
import { MAX_TOKEN_DAYS, MAX_TOKEN_NAME, MAX_TOKEN_RATE } from "../../config/limits.ts";
import { count, optional, text } from "./inputs.ts";
import { nextField } from "./keyset.ts";
import { time } from "./outputs.ts";
import { pageSchema } from "./pages.ts";

export const scope = z.enum(SCOPES).describe("A permission of a token.");

export const newApiTokenBody = z
  .strictObject({
    scopes: z
      .array(scope)
      .min(1)
      .max(SCOPES.length)
      .describe("What the token may do. The session must have these scopes itself."),
    expires_in_days: optional(count(MAX_TOKEN_DAYS, 1)).describe(
      "The token expires after so many days. By default it never expires.",
    ),
    rate_limit_per_minute: optional(count(MAX_TOKEN_RATE, 1)).describe(
      "Most calls per minute with this token. They also count for the app, whose limit applies as well. By default only the app is limited.",
    ),
    name: optional(text(MAX_TOKEN_NAME, 1)).describe("For your own reference. By default `console`."),
  })
  .meta({ id: "CreateToken" });

export const apiToken = z
  .object({
    token_id: z.string().describe("Names the token, also in `DELETE /v1/tokens/{token_id}`."),
    name: z.string().describe("For your own reference."),
    scopes: z.array(z.string()).describe("What the token may do."),
    rate_limit_per_minute: z
      .number()
      .int()
      .nullable()
      .describe("Most calls per minute with this token. null: only the app is limited."),
    created_at: time,
    expires_at: time.nullable().describe("null: the token never expires."),
    revoked_at: time.nullable().describe("null: the token is not revoked."),
  })
  .meta({ id: "Token" });
export const newApiToken = apiToken
  .extend({
    token: z.string().describe("The token itself. It is shown only now: the service stores its hash."),
  })
  .meta({ id: "NewToken" });
export const apiTokensPage = z.object({ tokens: pageSchema(apiToken), next: nextField }).meta({ id: "TokensPage" });
