import { recordAttempt, batchesByHash, batchRequests, openBatches } from "../../../../api/store/sending/batches.ts";
import { closeBatch } from "../../../../api/store/sending/close-batch.ts";
import { retryParked } from "../../../../api/store/db/under-way.ts";
import { batchesWithoutCost } from "../../../../api/store/requests/costs.ts";
import { countReady, parkClaims, returnAbandonedClaims, returnUnsent } from "../../../../api/store/sending/claims.ts";
import {
  allLanes,
  firstNonces,
  hasBegun,
  readReasons,
  releaseLease,
  renewLease,
  storeReason,
} from "../../../../api/store/sending/lanes.ts";
import type { NumberedRequest } from "../../../../api/store/requests/requests.ts";
import { mintOf } from "../../support/rows.ts";
import { accept, APP, claim, LANE, lease, send } from "./lane.ts";
import { NOW, type Tour } from "./tour.ts";
import { collectionTraits, usedBalances } from "../../../../api/store/sending/mint-slots.ts";
import { BUSY } from "../support/large-database.ts";

/** What a lane does besides sending a batch that succeeds. */
export async function runSending(tour: Tour, collection: string): Promise<void> {
  const { read, write } = tour;
  const mint = mintOf(BUSY.collection, collection);
  await accept(tour, [mint], true);
  const [failing = ""] = await accept(tour, [mint, mint]);
  const lane = await lease(tour);
  await write((trx) => renewLease(trx, lane, NOW));
  const claimed = await claim(tour, lane);
  const failed = failuresOf(claimed.filter(({ id }) => id === failing));
  await write((trx) => returnUnsent(trx, lane, failed, NOW));
  const broken = claimed.slice(-1).map(({ id }) => ({ id, error: "it always fails" }));
  await write((trx) => parkClaims(trx, lane, broken, NOW));
  await write((trx) => retryParked(trx, "request", broken[0]?.id ?? ""));
  await write((trx) => returnAbandonedClaims(trx, lane, NOW));
  const sent = await send(tour);
  const held = await lease(tour);
  const attempt = { raw: "0x", maxFeePerGas: 2n, maxPriorityFeePerGas: 1n, gasLimit: 1n };
  await write((trx) => recordAttempt(trx, held, sent.batchId, { hash: `${APP} second`, ...attempt }, NOW));
  await openBatches(read);
  await openBatches(read, LANE);
  await batchesWithoutCost(read, 50);
  await batchesByHash(read, [sent.hash, "hash-1"]);
  await batchRequests(read, sent.batchId);
  await allLanes(read);
  await firstNonces(read);
  await hasBegun(read, LANE);
  await readReasons(read, { lanes: [LANE], now: NOW, presence: 1 });
  await countReady(read, NOW, 200);
  await collectionTraits(read, [BUSY.collection]);
  await usedBalances(read, [
    { contract: BUSY.collection, owner: BUSY.wallet, tokenId: null, compact: false },
    { contract: BUSY.collection, owner: BUSY.wallet, tokenId: null, compact: true },
    { contract: BUSY.collection, owner: BUSY.wallet, tokenId: "1", compact: false },
  ]);
  await write((trx) => closeBatch(trx, sent.batchId, { blockNumber: 1, cost: null }, NOW));
  // What was signed before is postponed instead of failed.
  const returned = await claim(tour, held);
  await write((trx) => returnUnsent(trx, held, failuresOf(returned), NOW));
  await write((trx) => storeReason(trx, held, "low_funds"));
  await write((trx) => releaseLease(trx, held, null));
}

function failuresOf(requests: readonly NumberedRequest[]) {
  const failure = { errorCode: "execution_reverted" as const, errors: null };
  return requests.map((request) => ({ kind: "fails" as const, request, failure, cause: null }));
}
