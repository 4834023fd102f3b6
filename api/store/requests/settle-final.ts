import { sql } from "kysely";

import { isDelegated } from "../../domain/command.ts";
import { isFinal } from "../../domain/request.ts";
import { CounterDeltas, counterKeys } from "../db/counters.ts";
import { writeMeta } from "../db/meta.ts";
import { textSet, type Trx } from "../db/sql.ts";
import { enqueueEvents } from "../outbox/events.ts";
import { settle } from "./request-state.ts";
import { type DecidedRequest, madeBy, toRequest } from "./requests.ts";

/**
 * Handles a final request whose call ran again, because a reorg deeper than CONFIRMATIONS dropped its block. The status
 * stays. The app gets a `corrected` event if the token has another id now, the effect is gone, or a failed call succeeded.
 */
export async function correctFinal(
  trx: Trx,
  { request, outcome }: DecidedRequest,
  where: { transactionHash: string; blockNumber: number },
  now: number,
): Promise<void> {
  const row = await trx.selectFrom("requests").selectAll().where("id", "=", request.id).executeTakeFirst();
  if (row === undefined || !isFinal(row.status)) return;
  const current = toRequest(row);
  const made = madeBy({ request: current, outcome });
  const same =
    current.status === "completed" &&
    outcome.ok &&
    made.nft_collection === current.nft_collection &&
    made.nft_token_id === current.nft_token_id;
  const moved = { ...made, transaction_hash: where.transactionHash, block_number: where.blockNumber };
  // It failed before and fails again: nothing that the app was told has changed.
  const corrected = !same && (current.status === "completed" || outcome.ok);
  await trx
    .updateTable("requests")
    .set({ ...moved, updated_at: now, ...(corrected ? { corrected: 1 } : {}) })
    .where("id", "=", row.id)
    .execute();
  if (!corrected) return;
  const errorCode = outcome.ok ? undefined : outcome.errorCode;
  await enqueueEvents(trx, [{ request: { ...current, ...moved }, type: "corrected", errorCode }], now);
}

/** Which blocks are final. */
export interface FinalBlocks {
  /** The newest one. */
  confirmed: number;
  /** Failures in later blocks wait: of several nodes, one alone ends no request as failed. */
  failuresUpTo: number;
}

/** Outcomes are stored as JSON, this field first. */
const SUCCEEDED = '{"ok":true%';

/**
 * Settles every request whose outcome is in a final block: its status, its event and the deliveries of that. Lists the collections
 * that are final, too. The caller's transaction has locked the ledger.
 * @returns the requests that became final.
 */
export async function settleFinal(
  trx: Trx,
  { confirmed, failuresUpTo }: FinalBlocks,
  now: number,
): Promise<DecidedRequest[]> {
  await writeMeta(trx, "confirmed_block", confirmed.toString());
  const due = await trx
    .selectFrom("requests")
    .selectAll()
    .where("outcome", "is not", null)
    .where("block_number", "<=", confirmed)
    // Failures that wait may be many: they are not read each time.
    .where((is) =>
      is.or([is("block_number", "<=", Math.min(confirmed, failuresUpTo)), is("outcome", "like", SUCCEEDED)]),
    )
    .orderBy("block_number")
    .orderBy("seq")
    .execute();
  const settled = due.flatMap((row) => {
    const request = toRequest(row);
    const { outcome } = request;
    return outcome === null ? [] : [{ request, outcome }];
  });
  const final = await settle(trx, settled, now);
  await noteDelegated(trx, walletsThatRan(final));
  const listed = await trx
    .updateTable("collections")
    .set({ listed: 1 })
    .where("listed", "=", sql.lit(0))
    .where("block_number", "<=", confirmed)
    .returning(["address", "app_id"])
    .execute();
  const counters = new CounterDeltas();
  for (const { app_id: app } of listed) counters.add(counterKeys.collections(app), 1);
  await counters.flush(trx);
  return final;
}

/** Calls through the delegates of these wallets have succeeded in final blocks. */
export async function noteDelegated(trx: Trx, wallets: readonly string[]): Promise<void> {
  if (wallets.length === 0) return;
  await sql`
    update wallets set delegated = 1 where delegated = 0 and address in ${textSet(trx, wallets)}`.execute(trx);
}

/** The wallets whose delegates ran a call. */
function walletsThatRan(final: readonly DecidedRequest[]): string[] {
  const ran = final.flatMap(({ request: { command }, outcome }) =>
    outcome.ok && isDelegated(command) ? [command.from] : [],
  );
  return [...new Set(ran)];
}
