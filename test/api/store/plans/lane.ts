import { acceptGroup, type Item } from "../../../../api/commands/accept.ts";
import { isError } from "../../../../api/commands/or-error.ts";
import type { Command } from "../../../../api/domain/command.ts";
import type { ChainOutcome } from "../../../../api/domain/request.ts";
import type { SliceToStore } from "../../../../api/store/ledger/apply-range.ts";
import { markSent, recordBatch } from "../../../../api/store/sending/batches.ts";
import { claimRequests, readyRequests, returnUnsent } from "../../../../api/store/sending/claims.ts";
import { ensureLane, type Lease, readLane, takeLease } from "../../../../api/store/sending/lanes.ts";
import { minedBatch } from "../../support/blocks.ts";
import { callsOf, NO_LIMITS } from "../../support/items.ts";
import { hashOf } from "../../support/rows.ts";
import { NOW, type Tour } from "./tour.ts";
import type { NumberedRequest } from "../../../../api/store/requests/requests.ts";

/** The app whose requests go through the pipeline, while the busy app has a long queue. */
export const APP = "touring";
export const LANE = 0;

const RULES = { ...NO_LIMITS, appGasPerDay: Number.MAX_SAFE_INTEGER };
let numbers = 1_000_000_000n;
let requests = 0;

/** Accepts one call for each command, in one group. @returns the ids of the requests. */
export async function accept({ write }: Tour, commands: readonly Command[], waitsForMedia = false): Promise<string[]> {
  const items = commands.map((command): Item => {
    requests += 1;
    const id = `${APP}-${requests.toString()}`;
    const collection = "collection" in command ? command.collection : null;
    const tokenId = "tokenId" in command ? command.tokenId : null;
    const type =
      command.kind === "create-collection" ? "collection" : command.kind === "transfer" ? "transfer" : "mint";
    return { id, appId: APP, type, command, collection, tokenId, waitsForMedia };
  });
  const calls = callsOf(items).map((call, index) => {
    const key = items[index]?.id ?? "";
    return { ...call, key: { key, fingerprint: "new:1" } };
  });
  for (const answer of await write((trx) => acceptGroup(trx, calls, RULES, NOW))) if (isError(answer)) throw answer;
  return items.map(({ id }) => id);
}

export async function lease({ write }: Tour): Promise<Lease> {
  await write((trx) => ensureLane(trx, LANE, "the lane", 0));
  const taken = await write((trx) => takeLease(trx, LANE, "tour", { now: NOW, lasts: 1 }, () => true));
  if (taken === null) throw new Error("the lane is free");
  return taken;
}

/** Claims what is ready, returns the busy app's requests, and keeps those of the tour. */
export async function claim({ write }: Tour, lane: Lease): Promise<NumberedRequest[]> {
  return write(async (trx) => {
    const options = { limit: 40, now: NOW + 1_000, nextNumber: () => numbers++ };
    await claimRequests(trx, lane, { ...options, only: [] });
    const ready = await readyRequests(trx, options.now, options.limit);
    const { claimed } = await claimRequests(trx, lane, { ...options, only: ready });
    const others = claimed.filter(({ app_id }) => app_id !== APP);
    await returnUnsent(
      trx,
      lane,
      others.map((request) => ({ kind: "ready", request, retryIn: 1, waitingFor: null })),
      NOW - 1,
    );
    return claimed.filter(({ app_id }) => app_id === APP);
  });
}

export interface Sent {
  batchId: number;
  attemptId: number;
  hash: string;
  requests: NumberedRequest[];
}

/** Signs and sends one batch of everything that the tour has ready. */
export async function send(tour: Tour): Promise<Sent> {
  const lane = await lease(tour);
  const claimed = await claim(tour, lane);
  const nonce = (await readLane(tour.read, LANE))?.next_nonce ?? 0;
  const hash = hashOf(`tour ${nonce.toString()}`);
  const attempt = { hash, raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasLimit: 1n };
  const ids = await tour.write((trx) =>
    recordBatch(trx, lane, { nonce, requests: claimed, weights: claimed.map(() => 1), attempt }, NOW),
  );
  await tour.write((trx) => markSent(trx, ids.attemptId, "accepted", NOW));
  return {
    ...ids,
    hash,
    requests: claimed.map((request) => ({ ...request, status: "processing", transaction_hash: hash })),
  };
}

/** A batch as a block contains it. @param outcomeOf null: the call did not run. */
export function mined(
  sent: Sent,
  block: number,
  outcomeOf: (command: Command) => ChainOutcome | null,
): SliceToStore["batches"][number] {
  const batch = minedBatch(sent, block, ({ command }) => outcomeOf(command), sent.hash);
  return { ...batch, timestamp: NOW, cost: { gas: 1_000_000, feeWei: 10n ** 15n } };
}
