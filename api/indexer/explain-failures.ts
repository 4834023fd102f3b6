import type { ChainClient } from "../chain/client.ts";
import { decodeExecute, type SentCall } from "../chain/codec/decode-call.ts";
import { type CallFailure, failureOf, saysNothing } from "../chain/codec/decode.ts";
import type { Cause, FailedCall } from "../chain/failed-calls.ts";
import type { Nodes } from "../chain/nodes.ts";
import { refusedBy } from "../chain/refusals.ts";
import type { SliceToStore } from "../store/ledger/apply-range.ts";
import type { StoredRequest } from "../store/requests/requests.ts";
import type { ChainRange } from "./read-range.ts";

/** A failed call, and whose it is. */
export interface FailedItem extends FailedCall {
  request: StoredRequest;
  appId: string;
}

/** Why calls failed, from the state before their block. Undefined: not answered in time. */
export type FindCauses = (calls: readonly FailedItem[], parentHash: string) => Promise<(Cause | undefined)[]>;

type Batches = SliceToStore["batches"];

/**
 * Says of calls that failed without a reason whether they ran out of gas or their receiver refused the token. Another node must say
 * so, too. What no node tells stays what the relay says: the call reverted.
 */
export async function explainFailures(
  client: { nodes: Pick<Nodes, "second">; transactions: ChainClient["transactions"] },
  causesAt: FindCauses,
  range: ChainRange,
  batches: Batches,
): Promise<Batches> {
  const silent = new Set(
    range.relay.flatMap((event) => (event.kind === "call-failed" && saysNothing(event.reason) ? [event.number] : [])),
  );
  const concerned = batches.filter((batch) => failedAmong(batch, silent).length > 0);
  if (concerned.length === 0) return batches;
  const explained = new Map<StoredRequest, CallFailure>();
  const sent = await client.transactions(concerned.map(({ transactionHash }) => transactionHash));
  for (const [index, batch] of concerned.entries()) {
    const transaction = sent[index];
    const parentHash = range.headers.get(batch.blockNumber)?.parentHash;
    const calls = transaction == null ? null : decodeExecute(transaction.data);
    if (calls === null || parentHash === undefined) continue;
    const items = itemsOf(batch, calls, silent);
    const causes = await causesAt(items, parentHash);
    const said = items.flatMap((item, at) => (causes[at] == null ? [] : [{ item, cause: causes[at] }]));
    const asked = said.map(({ item }) => item);
    const again = said.length === 0 ? null : await client.nodes.second(() => causesAt(asked, parentHash));
    for (const [at, { item, cause }] of said.entries()) {
      if (again === null || isSame(cause, again[at])) explained.set(item.request, failureBy(cause, item));
    }
  }
  return batches.map((batch) => ({
    ...batch,
    outcomes: batch.outcomes.map((decided) => {
      const failure = explained.get(decided.request);
      return failure === undefined ? decided : { ...decided, outcome: { ok: false, ...failure } };
    }),
  }));
}

function failedAmong({ outcomes }: Batches[number], silent: ReadonlySet<bigint>): StoredRequest[] {
  return outcomes.flatMap(({ request, outcome }) =>
    !outcome.ok && request.number !== null && silent.has(request.number) ? [request] : [],
  );
}

function itemsOf(batch: Batches[number], calls: readonly SentCall[], silent: ReadonlySet<bigint>): FailedItem[] {
  const byNumber = new Map(calls.map((call) => [call.number, call]));
  return failedAmong(batch, silent).flatMap((request) => {
    const call = request.number === null ? undefined : byNumber.get(request.number);
    if (call === undefined) return [];
    const { gasLimit: limit, ...rest } = call;
    // The transaction of a call that ran out of gas has used at least the limit of the call. Without a receipt it is not known.
    const mayHaveRunOut = batch.cost === undefined || batch.cost.gas >= limit;
    return [{ ...rest, limit, mayHaveRunOut, command: request.command, request, appId: request.app_id }];
  });
}

function isSame(one: Cause, other: Cause | undefined): boolean {
  if (one === null || other == null) return false;
  if (one === "out of gas" || other === "out of gas") return one === other;
  return one.receiver === other.receiver && one.delegate === other.delegate;
}

function failureBy(cause: NonNullable<Cause>, { limit }: FailedItem): CallFailure {
  if (cause !== "out of gas") return refusedBy(cause, null);
  const message = `The call ran out of gas: it used up its limit of ${limit.toString()}. The costs are measured again: send a new request.`;
  return failureOf("out_of_gas", message);
}
