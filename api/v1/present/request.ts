import type { z } from "zod";

import type { FieldError, RequestFailureCode } from "../../domain/error-codes.ts";
import { toWireInteger } from "../../domain/numbers.ts";
import type { RequestRow } from "../../store/db/schema.ts";
import type { request } from "../schemas/requests.ts";
import { isoTime } from "./time.ts";

export function presentRequest(row: RequestRow): z.input<typeof request> {
  return {
    request_id: row.id,
    type: row.type,
    status: row.status,
    nft_collection: row.nft_collection,
    nft_token_id: row.nft_token_id === null ? null : toWireInteger(row.nft_token_id),
    transaction_hash: row.transaction_hash,
    block_number: row.block_number,
    error_code: row.error_code as RequestFailureCode | null,
    errors: row.errors === null ? null : (JSON.parse(row.errors) as FieldError[]),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
