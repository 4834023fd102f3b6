import { z } from "zod";

import { REQUEST_STATUSES, REQUEST_TYPES } from "../../domain/request.ts";
import { address, fieldErrors, integer, requestFailure, requestId, time, transactionHash } from "./outputs.ts";
import { pageFields, pageFrameFields } from "./pages.ts";

export const requestsQuery = z.strictObject({
  status: z.enum(REQUEST_STATUSES).optional(),
  type: z.enum(REQUEST_TYPES).optional(),
  ...pageFields,
});

export const request = z
  .object({
    request_id: requestId,
    type: z.enum(REQUEST_TYPES),
    status: z.enum(REQUEST_STATUSES),
    nft_collection: address.nullable(),
    nft_token_id: integer.nullable(),
    transaction_hash: transactionHash.nullable(),
    block_number: z.int().nullable(),
    error_code: requestFailure.nullable(),
    errors: fieldErrors,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Request" });

export const requestsPage = z.object({ requests: z.array(request), ...pageFrameFields }).meta({ id: "RequestsPage" });
