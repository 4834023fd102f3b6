import type { StoredRequest } from "../../store/requests/stored-request.ts";
import { time } from "../terminal.ts";

/** A request as the operator sees it: the fields of the API, and its place in the pipeline. */
export function describeRequest(row: StoredRequest) {
  return {
    request_id: row.id,
    app_id: row.app_id,
    type: row.type,
    status: row.status,
    nft_collection: row.nft_collection,
    nft_token_id: row.nft_token_id,
    number: row.number?.toString() ?? null,
    lane: row.lane,
    batch: row.batch_id,
    returns: row.returns,
    transaction_hash: row.transaction_hash,
    block_number: row.block_number,
    gas_used: row.gas_used,
    fee_wei: row.fee_wei,
    error_code: row.error_code,
    errors: row.errors,
    created_at: time(row.created_at),
    updated_at: time(row.updated_at),
  };
}
