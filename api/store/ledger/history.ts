import { sql } from "kysely";

import type { TokenMove } from "../../domain/token.ts";
import { type CounterDeltas, counterKeys } from "../db/counters.ts";
import type { TransferRow } from "../db/schema.ts";
import { integerSet, rowSet, type Trx } from "../db/sql.ts";

/** One movement of copies of a token, as a log shows it, ready to be stored. */
export interface StoredMove extends TokenMove {
  /** Milliseconds since 1970. */
  timestamp: number;
  requestId: string | null;
  /** The wallets in whose history it belongs. Absent: the sender and the recipient, if they are wallets. */
  historyOf?: readonly string[];
}

const COLUMNS = {
  contract: "text",
  token_id: "text",
  type: "text",
  quantity: "text",
  from_address: "text",
  to_address: "text",
  transaction_hash: "text",
  block_number: "integer",
  log_index: "integer",
  sub_index: "integer",
  timestamp: "integer",
  request_id: "text",
} as const;

/** Adds moves, in order, to the histories of their tokens and of the senders and recipients that are wallets. */
export async function addToHistory(
  trx: Trx,
  moves: readonly StoredMove[],
  wallets: ReadonlySet<string>,
  counters: CounterDeltas,
): Promise<void> {
  await insertHistory(trx, moves, wallets);
  countHistory(moves, wallets, counters);
}

/** Adds the rows, without the totals. @returns the number of the first one; null when there are no moves. */
export async function insertHistory(
  trx: Trx,
  moves: readonly StoredMove[],
  wallets: ReadonlySet<string>,
): Promise<number | null> {
  if (moves.length === 0) return null;
  const { rows: inserted } = await sql<{ id: number; block_number: number; log_index: number; sub_index: number }>`
    insert into transfers (contract, token_id, type, quantity, from_address, to_address, transaction_hash, block_number,
                           log_index, sub_index, timestamp, request_id)
    select contract, token_id, type, quantity, from_address, to_address, transaction_hash, block_number,
           log_index, sub_index, timestamp, request_id
      from ${rowSet(trx, COLUMNS, moves.map(rowOf))} as input order by ord
    returning id, block_number, log_index, sub_index`.execute(trx);
  const ids = new Map(inserted.map((row) => [placeOf(row.block_number, row.log_index, row.sub_index), row.id]));
  const entries: { wallet: string; transfer_id: number }[] = [];
  let first = Infinity;
  for (const move of moves) {
    const id = ids.get(placeOf(move.blockNumber, move.logIndex, move.subIndex));
    if (id === undefined) throw new Error("a stored move has no row");
    first = Math.min(first, id);
    for (const wallet of walletsOf(move, wallets)) entries.push({ wallet, transfer_id: id });
  }
  if (entries.length === 0) return first;
  await sql`
    insert into wallet_history (wallet, transfer_id)
    select wallet, transfer_id from ${rowSet(trx, { wallet: "text", transfer_id: "integer" }, entries)} as input
  `.execute(trx);
  return first;
}

/** Deletes moves from all histories. @returns which of them were in the histories of wallets. */
export async function deleteHistory(
  trx: Trx,
  moves: readonly Pick<TransferRow, "id" | "contract" | "token_id">[],
  counters: CounterDeltas,
  { hides = false }: { hides?: boolean } = {},
): Promise<{ wallet: string; transfer_id: number }[]> {
  const ids = moves.map(({ id }) => id);
  const { rows: entries } = await sql<{ wallet: string; transfer_id: number }>`
    select wallet, transfer_id from wallet_history where transfer_id in ${integerSet(trx, ids)}`.execute(trx);
  for (const { contract, token_id } of moves) counters.add(counterKeys.tokenHistory(contract, token_id), -1);
  for (const { wallet } of entries) counters.add(counterKeys.walletHistory(wallet), -1);
  if (hides) return entries;
  await sql`delete from wallet_history where transfer_id in ${integerSet(trx, ids)}`.execute(trx);
  await sql`delete from transfers where id in ${integerSet(trx, ids)}`.execute(trx);
  return entries;
}

export function countHistory(
  moves: readonly StoredMove[],
  wallets: ReadonlySet<string>,
  counters: CounterDeltas,
): void {
  for (const move of moves) {
    counters.add(counterKeys.tokenHistory(move.contract, move.tokenId), 1);
    for (const wallet of walletsOf(move, wallets)) counters.add(counterKeys.walletHistory(wallet), 1);
  }
}

/** The wallets in whose history a move belongs, each once. */
function walletsOf(move: StoredMove, wallets: ReadonlySet<string>): string[] {
  const ends = [...new Set(move.historyOf ?? [move.from, move.to])];
  return ends.filter((end) => end !== null && wallets.has(end)) as string[];
}

function placeOf(block: number, log: number, sub: number): string {
  return `${block.toString()}/${log.toString()}/${sub.toString()}`;
}

function rowOf(move: StoredMove) {
  return {
    contract: move.contract,
    token_id: move.tokenId,
    type: move.from === null ? "mint" : move.to === null ? "burn" : "transfer",
    quantity: move.quantity,
    from_address: move.from,
    to_address: move.to,
    transaction_hash: move.transactionHash,
    block_number: move.blockNumber,
    log_index: move.logIndex,
    sub_index: move.subIndex,
    timestamp: move.timestamp,
    request_id: move.requestId,
  };
}
