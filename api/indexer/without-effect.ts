import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { failureOf } from "../chain/codec/decode.ts";
import { isEmpty, type Receipt } from "../chain/transaction.ts";
import { RpcError } from "../chain/errors.ts";
import { readConsumed } from "../chain/reads.ts";
import { NO_COST } from "../domain/cost-shares.ts";
import { dayOf } from "../domain/day.ts";
import { type BroadcastAnswer, verdictOf } from "../domain/broadcast-answer.ts";
import { isFinal, MAX_BATCH } from "../domain/request.ts";
import { storedBlock } from "../store/ledger/blocks.ts";
import { batchRequests, type OpenBatch, openBatches } from "../store/sending/batches.ts";
import { closeBatch, type RefusedBatch } from "../store/sending/close-batch.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { finalChanges } from "../store/requests/requests.ts";
import { readLane } from "../store/sending/lanes.ts";
import type { IndexerContext } from "./context.ts";
import { costOf, differInCost } from "./costs.ts";

/** Milliseconds between two warnings about a batch. */
const WARN_EVERY = 60_000;

/** Batches about which a warning was logged in the last minute, by their ids: when (monotonic clock). */
export type Warned = Map<number, number>;

/**
 * Closes batches that ran no call. A transaction that reverts as a whole, or is empty, leaves no log. If a final block has
 * used the nonce of a batch that is still open after its logs were read, the batch did nothing. Its requests go into
 * another batch, under the same numbers.
 * @param warned is kept from one step to the next. @param final the newest final block. Its logs are stored.
 */
export async function closeBatchesWithoutEffect(context: IndexerContext, warned: Warned, final: number): Promise<void> {
  const { database, client, logger, metrics, signals, now } = context;
  const open = await openBatches(database.read);
  for (const index of new Set(open.map((batch) => batch.lane))) {
    const lane = await readLane(database.read, index);
    if (lane === undefined) continue;
    // Read the newest state first: many nodes keep only the state of the last 128 blocks.
    const [used = 0] = await client.nonces([lane.address]);
    for (const batch of open.filter(({ lane, nonce }) => lane === index && nonce < used)) {
      const fields = { batch: batch.id, nonce: batch.nonce, lane: index };
      const found = await receiptWithoutEffect(client, batch, final);
      if (found !== null) {
        const again = await client.nodes.second(async () => ({
          found: await receiptWithoutEffect(client, batch, final),
        }));
        const refused = await refusalOf(database, batch, found.empty);
        // Of several nodes, one alone ends no request.
        const failsAlone = again === null && client.nodes.count > 1 && refused !== null && "failure" in refused;
        if (failsAlone || contradicts(again, found)) {
          warnOfContradiction(logger, warned, fields);
          continue;
        }
        report(logger, fields, found, refused);
        const { blockNumber } = found.receipt;
        const day = dayOf((await storedBlock(database.read, blockNumber))?.timestamp ?? now());
        // If the two nodes report different costs, the cost is read later, from all nodes.
        const cost = differInCost(found.receipt, again?.found?.receipt) ? null : costOf(found.receipt);
        const mined = { blockNumber, cost: cost === null ? null : { ...cost, day } };
        const failed = await database.write((trx) => closeBatch(trx, batch.id, mined, now(), refused));
        if (failed.length === 0) continue;
        metrics.requests(finalChanges(failed, now()));
        signals.deliveries.notify();
      } else if (await ranNowhere(context, lane.address, batch, final)) {
        // Another transaction used the nonce, so no attempt of the batch has run or can run. If it was a batch of a lane that
        // the database does not know, that batch may have run the same requests: `reconcile` decides about them.
        if ((await readMeta(database.read, "unknown_transaction")) !== null) continue;
        logger.error(
          fields,
          "an unknown transaction used the lane's nonce: check that no other service uses this seed; the requests are sent again",
        );
        const none = { blockNumber: final, cost: { ...NO_COST, day: dayOf(now()) } };
        await database.write((trx) => closeBatch(trx, batch.id, none, now()));
      }
    }
  }
}

/** Each step finds it again, so it is logged once a minute. */
function warnOfContradiction(logger: Logger, warned: Warned, fields: { batch: number }): void {
  const now = performance.now();
  for (const [batch, at] of warned) if (now - at >= WARN_EVERY) warned.delete(batch);
  if (warned.has(fields.batch)) return;
  warned.set(fields.batch, now);
  logger.warn(fields, "another node does not say that a batch ran no call: the batch stays open until it does");
}

/**
 * What follows from the node's refusals; null: it did not refuse the batch. The node accepted the empty transaction that closed
 * the nonce, so it refuses the calls themselves. Requests that shared the batch go on in batches of half the size. A request that
 * was alone fails; if the errors are not known, only the second time.
 */
async function refusalOf(database: Database, batch: OpenBatch, closedEmpty: boolean): Promise<RefusedBatch | null> {
  if (!closedEmpty) return null;
  const attempts = batch.attempts.filter(({ raw }) => raw !== null && !isEmpty(raw));
  const verdict = verdictOf(attempts.map(({ answer }) => answer));
  if (verdict === null) return null;
  if (batch.size > 1) return { returns: Math.ceil(Math.log2((2 * MAX_BATCH) / batch.size)) };
  const [request] = await batchRequests(database.read, batch.id);
  if (verdict === "unknown" && (request?.returns ?? 0) === 0) return null;
  const message = REFUSED[attempts.at(-1)?.answer ?? "unknown"] ?? REFUSED_OTHERWISE;
  return { failure: { ok: false, ...failureOf("transaction_refused", message) } };
}

const REFUSED_OTHERWISE = "The chain's node refuses the transaction of this request. The operator's log has its error.";
const REFUSED: Partial<Record<BroadcastAnswer, string>> = {
  "gas-too-low": "The chain's node says that this request costs more gas than one transaction may have.",
  "gas-too-high": "The chain's node says that this request needs more gas than one transaction may have.",
};

function report(logger: Logger, fields: object, { empty }: { empty: boolean }, refused: RefusedBatch | null): void {
  if (refused !== null && "failure" in refused)
    logger.error(
      { ...fields, errors: refused.failure.errors },
      "the node refuses the transaction of a request, also alone; the request failed",
    );
  else if (refused !== null)
    logger.warn(fields, "the node refused a batch; its requests are sent again in smaller batches");
  else if (empty) logger.warn(fields, "a nonce was closed with an empty transaction; the requests are sent again");
  else logger.error(fields, "a batch reverted as a whole; its requests are sent again");
}

interface WithoutEffect {
  receipt: Receipt;
  empty: boolean;
}

/** Receipt of the attempt that reverted or was empty in a final block. */
async function receiptWithoutEffect(
  client: ChainClient,
  batch: OpenBatch,
  final: number,
): Promise<WithoutEffect | null> {
  const receipts = await client.receipts(batch.attempts.map((attempt) => attempt.hash));
  // Decoding a transaction is slow, so it comes last: most batches here are mined, but their logs are not read yet.
  for (const [index, receipt] of receipts.entries()) {
    if (receipt === null || receipt.blockNumber > final) continue;
    if (receipt.status === 0) return { receipt, empty: false };
    // The signed bytes of a batch that ran nothing are never pruned.
    const raw = batch.attempts[index]?.raw ?? null;
    if (raw !== null && isEmpty(raw)) return { receipt, empty: true };
  }
  return null;
}

/** @param again the answer of another node; null: no other node answers. An object, because what it found may be null, too. */
function contradicts(again: { found: WithoutEffect | null } | null, { receipt, empty }: WithoutEffect): boolean {
  if (again === null) return false;
  return again.found?.receipt.blockHash !== receipt.blockHash || again.found.empty !== empty;
}

/** Whether no attempt of the batch can have run. Another node, if there is one, must say so, too. */
async function ranNowhere(context: IndexerContext, address: string, batch: OpenBatch, final: number): Promise<boolean> {
  const look = async () =>
    (await isUsed(context, address, batch.nonce, final)) && (await untouched(context, batch, final));
  return (await look()) && (await context.client.nodes.second(look)) !== false;
}

/** Whether the nonce was used at the end of a block. False if the node no longer has the state of that block. */
async function isUsed(
  { client, logger }: IndexerContext,
  address: string,
  nonce: number,
  at: number,
): Promise<boolean> {
  try {
    const [used = 0] = await client.nonces([address], at);
    return nonce < used;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    logger.debug({ err: error, block: at }, "the node does not have the nonces as of a block");
    return false;
  }
}

/**
 * Whether the relay has consumed none of the numbers that still wait for this batch. A missing receipt proves nothing, so
 * this reads the state of a block in which the nonce is used.
 */
async function untouched(
  { database, client, contracts }: IndexerContext,
  batch: OpenBatch,
  at: number,
): Promise<boolean> {
  const waiting = (await batchRequests(database.read, batch.id)).filter(
    ({ status, outcome }) => !isFinal(status) && outcome === null,
  );
  const numbers = waiting.map(({ number }) => number);
  return (await readConsumed(client, contracts.relay, numbers, at)).every((consumed) => consumed === false);
}
