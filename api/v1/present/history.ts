import { toWireInteger } from "../../domain/numbers.ts";
import type { HistoryEntry } from "../../store/listings/history.ts";
import { isoTime } from "./time.ts";

export function presentHistoryEntry(row: HistoryEntry) {
  return {
    type: row.type,
    contract_address: row.contract,
    token_id: toWireInteger(row.token_id),
    quantity: toWireInteger(row.quantity),
    from_address: row.from_address,
    to_address: row.to_address,
    transaction_hash: row.transaction_hash,
    block_number: row.block_number,
    timestamp: isoTime(row.timestamp),
    request_id: row.request_id,
  };
}
