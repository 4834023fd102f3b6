import { z } from "zod";

import { address, tokenId } from "./inputs.ts";

/* Path parameters. */

export const none = z.object({});
export const noQuery = z.strictObject({});
export const addressParams = z.object({ address });
export const contractParams = z.object({ address, contract_address: address });
export const contractTokenParams = z.object({ address, contract_address: address, token_id: tokenId });
export const tokenParams = z.object({ address, token_id: tokenId });
/** Any text: an unknown id is simply not found. A text with NUL, which PostgreSQL refuses, cannot be an id either. */
const name = z.string().transform((text) => (text.includes("\0") ? "" : text));
export const requestParams = z.object({ request_id: name });
export const deliveryParams = z.object({ id: name });
export const userParams = z.object({ user_identifier: name });
