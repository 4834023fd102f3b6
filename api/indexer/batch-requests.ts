import type { Transaction } from "ethers";

import { decodeExecute } from "../chain/decode-call.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import type { Db } from "../store/db/engine.ts";
import { requestsByNumber } from "../store/requests/requests.ts";
import { batchRequests } from "../store/sending/batches.ts";
import type { ClaimedRequest } from "../store/sending/claims.ts";

interface Deps {
  read: Db;
  /** Transactions as the node shows them. */
  transactions: (hashes: string[]) => Promise<(Transaction | null | undefined)[]>;
}

/**
 * The requests of mined batches in the order of their calls, by the hash of the transaction. If a batch's items were pruned, its
 * transaction names their numbers. Only a block from long ago has such a batch: `reconcile` reads it again.
 * @param batches ids by hash.
 */
export async function requestsOfBatches(
  { read, transactions }: Deps,
  batches: ReadonlyMap<string, number>,
): Promise<Map<string, ClaimedRequest[]>> {
  const found = new Map<string, ClaimedRequest[]>();
  for (const [hash, id] of batches) found.set(hash, await batchRequests(read, id));
  const pruned = [...found].flatMap(([hash, requests]) => (requests.length === 0 ? [hash] : []));
  if (pruned.length === 0) return found;
  const numbers = new Map<string, bigint[]>();
  for (const [index, transaction] of (await transactions(pruned)).entries()) {
    const hash = pruned[index] ?? "";
    const calls = transaction == null ? null : decodeExecute(transaction.data);
    if (calls === null) {
      throw new ChainUnavailable(`the node does not have the transaction ${hash}, whose logs it returned`);
    }
    numbers.set(
      hash,
      calls.map(({ number }) => number),
    );
  }
  const requests = await requestsByNumber(read, [...new Set([...numbers.values()].flat())]);
  const byNumber = new Map(requests.map((request) => [request.number, request]));
  for (const [hash, called] of numbers) {
    const carried = called.map((number) => {
      const request = byNumber.get(number);
      if (request === undefined) throw new Error(`the database has no request with the number ${number.toString()}`);
      return request;
    });
    found.set(hash, carried);
  }
  return found;
}
