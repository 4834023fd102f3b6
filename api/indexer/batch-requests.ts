import type { Transaction } from "ethers";

import type { ContractAddresses } from "../chain/contracts.ts";
import { decodeCommand, decodeExecute, type ExecutedCall } from "../chain/decode-call.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import type { Db } from "../store/db/engine.ts";
import type { FailedRow } from "../store/db/parked-rows.ts";
import { requestsByNumber } from "../store/requests/requests.ts";
import { batchRequestsAsStored, type UnreadableRequest } from "../store/sending/batches.ts";
import type { ClaimedRequest } from "../store/sending/claims.ts";

interface Deps {
  read: Db;
  contracts: ContractAddresses;
  /** Transactions as the node shows them. */
  transactions: (hashes: string[]) => Promise<(Transaction | null | undefined)[]>;
}

interface BatchRequests {
  /** The requests of each batch in the order of its calls, by the hash of the transaction. */
  requests: Map<string, ClaimedRequest[]>;
  /** Requests whose stored commands cannot be read: theirs come from the chain, without metadata. */
  unreadable: FailedRow[];
}

/**
 * The requests of mined batches. What the database does not have is in the transactions, which are then read: the numbers of
 * pruned items, from a block of long ago that `reconcile` reads again, and commands that cannot be read.
 * @param batches ids by hash.
 */
export async function requestsOfBatches(deps: Deps, batches: ReadonlyMap<string, number>): Promise<BatchRequests> {
  const requests = new Map<string, ClaimedRequest[]>();
  const incomplete = new Map<string, (ClaimedRequest | UnreadableRequest)[]>();
  for (const [hash, id] of batches) {
    const rows = await batchRequestsAsStored(deps.read, id);
    const readable = rows.filter((row): row is ClaimedRequest => !isUnreadable(row));
    if (rows.length > 0 && readable.length === rows.length) requests.set(hash, readable);
    else incomplete.set(hash, rows);
  }
  if (incomplete.size === 0) return { requests, unreadable: [] };
  const calls = await callsOf(deps, [...incomplete.keys()]);
  const pruned = [...incomplete].flatMap(([hash, rows]) => (rows.length === 0 ? (calls.get(hash) ?? []) : []));
  const stored = await requestsByNumber(deps.read, [...new Set(pruned.map(({ number }) => number))]);
  const byNumber = new Map(stored.map((request) => [request.number, request]));
  for (const [hash, rows] of incomplete) {
    const called = calls.get(hash) ?? [];
    requests.set(
      hash,
      rows.length === 0
        ? called.map(({ number }) => {
            const message = `the database has no request with the number ${number.toString()}`;
            return present(byNumber.get(number), message);
          })
        : rows.map((row) => (isUnreadable(row) ? fromCall(deps, row, called) : row)),
    );
  }
  const unreadable = [...incomplete.values()].flat().filter(isUnreadable);
  return { requests, unreadable: unreadable.map(({ id, error }) => ({ id, error })) };
}

function isUnreadable(row: ClaimedRequest | UnreadableRequest): row is UnreadableRequest {
  return "withCommand" in row;
}

async function callsOf({ transactions }: Deps, hashes: string[]): Promise<Map<string, ExecutedCall[]>> {
  const found = new Map<string, ExecutedCall[]>();
  for (const [index, transaction] of (await transactions(hashes)).entries()) {
    const hash = hashes[index] ?? "";
    const calls = transaction == null ? null : decodeExecute(transaction.data);
    if (calls === null) {
      throw new ChainUnavailable(`the node does not have the transaction ${hash}, whose logs it returned`);
    }
    found.set(hash, calls);
  }
  return found;
}

function fromCall({ contracts }: Deps, row: UnreadableRequest, calls: readonly ExecutedCall[]): ClaimedRequest {
  const call = calls.find(({ number }) => number === row.number);
  return row.withCommand(decodeCommand(present(call, `its transaction does not call request ${row.id}`), contracts));
}

function present<T>(found: T | undefined, message: string): T {
  if (found === undefined) throw new Error(message);
  return found;
}
