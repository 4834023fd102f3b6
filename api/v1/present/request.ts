import type { z } from "zod";

import { ERRORS } from "../../domain/error-codes.ts";
import { toWireInteger } from "../../domain/numbers.ts";
import type { StoredRequest } from "../../store/requests/stored-request.ts";
import type { request } from "../schemas/requests.ts";
import { isoTime } from "./time.ts";

export function presentRequest(row: StoredRequest): z.input<typeof request> {
  return {
    request_id: row.id,
    type: row.type,
    status: row.status,
    nft_collection: row.nft_collection,
    nft_token_id: row.nft_token_id === null ? null : toWireInteger(row.nft_token_id),
    transaction_hash: row.transaction_hash,
    block_number: row.block_number,
    gas_used: row.gas_used,
    fee_wei: row.fee_wei,
    error_code: row.error_code,
    error_message: row.error_code === null ? null : ERRORS[row.error_code].message,
    errors: row.errors,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
