import { z } from "zod";

import { MAX_HEADER_BYTES } from "../../config/limits.ts";
import { address as anyAddress, tokenId as anyTokenId } from "./inputs.ts";

/* Path parameters. */

const address = anyAddress.meta({
  description: "Address of the wallet or of the contract, in any case.",
  param: { id: "Address" },
});
const contract_address = anyAddress.meta({
  description: "Address of the contract, in any case.",
  param: { id: "ContractAddress" },
});
const token_id = anyTokenId.meta({ description: "Token id, as decimal digits.", param: { id: "TokenId" } });

export const none = z.object({});
export const noQuery = z.strictObject({});
export const addressParams = z.object({ address });
export const contractParams = z.object({ address, contract_address });
export const contractTokenParams = z.object({ address, contract_address, token_id });
export const tokenParams = z.object({ address, token_id });
/**
 * Any text: an unknown id is simply not found. A text with NUL, which PostgreSQL refuses, cannot be an id either, and neither can
 * a longer one. @param longest in characters; each takes at most two units of a string.
 */
function name(description: string, longest: number) {
  return z
    .string()
    .meta({ description, maxLength: longest })
    .transform((text) => (text.includes("\0") || text.length > 2 * longest ? "" : text));
}
/** Characters of the longest id: that of a request. */
const MAX_ID = 64;
export const requestParams = z.object({ request_id: name("The `request_id` of an earlier answer.", MAX_ID) });
export const deliveryParams = z.object({
  id: name("The `id` of the delivery.", MAX_ID).meta({ param: { id: "DeliveryId" } }),
});
export const webhookParams = z.object({
  id: name("The `id` of the webhook.", MAX_ID).meta({ param: { id: "WebhookId" } }),
});
export const tokenIdParams = z.object({ token_id: name("The `token_id` of the token.", MAX_ID) });
export const userParams = z.object({
  user_identifier: name("The app's own name for the user, percent-encoded.", MAX_HEADER_BYTES),
});
