import {
  recordAttempt,
  signedBytes,
  batchesByHash,
  batchRequests,
  openBatches,
} from "../../../../api/store/sending/batches.ts";
import { closeBatch } from "../../../../api/store/sending/close-batch.ts";
import { batchesWithoutCost } from "../../../../api/store/requests/costs.ts";
import { countReady, failClaims, parkClaims, returnAbandonedClaims } from "../../../../api/store/sending/claims.ts";
import { allLanes, firstNonces, hasBegun, releaseLease, renewLease } from "../../../../api/store/sending/lanes.ts";
import { accept, APP, claim, LANE, lease, send } from "./lane.ts";
import { NOW, type Tour } from "./tour.ts";
import { collectionTraits, usedBalances } from "../../../../api/store/sending/mint-slots.ts";
import { BUSY } from "../support/large-database.ts";

/** What a lane does besides sending a batch that succeeds. */
export async function runSending(tour: Tour, collection: string): Promise<void> {
  const { read, write } = tour;
  const mint = { kind: "mint-erc721", collection: BUSY.collection, to: collection, metadata: null } as const;
  await accept(tour, [mint], true);
  const [failing = ""] = await accept(tour, [mint, mint]);
  const lane = await lease(tour);
  await write((trx) => renewLease(trx, lane, NOW));
  const claimed = await claim(tour, lane);
  const failures = claimed.map((request) => ({ request, errorCode: "execution_reverted" as const, errors: null }));
  await write((trx) =>
    failClaims(
      trx,
      lane,
      failures.filter(({ request }) => request.id === failing),
      NOW,
    ),
  );
  const broken = claimed.slice(-1).map(({ id }) => ({ id, error: "it always fails" }));
  await write((trx) => parkClaims(trx, lane, broken, NOW));
  await write((trx) =>
    trx
      .updateTable("requests")
      .set({ ready_at: NOW })
      .where("id", "=", broken[0]?.id ?? "")
      .execute(),
  );
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
  await signedBytes(read, sent.hash);
  await allLanes(read);
  await firstNonces(read);
  await hasBegun(read, LANE);
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
  const signed = returned.map((request) => ({ request, errorCode: "execution_reverted" as const, errors: null }));
  await write((trx) => failClaims(trx, held, signed, NOW));
  await write((trx) => releaseLease(trx, held));
}
