import type { Recovery } from "../../reconcile/recover.ts";
import type { Reconciliation } from "../../reconcile/reconcile.ts";

/** The result in words, with what is to be done and what cannot be had back. */
export function describeReconciliation(result: Reconciliation): string {
  const { comparison, recovery, adopted, ownerless, dry_run: dryRun } = result;
  const left = comparison.differences - comparison.told.length;
  return [
    ...(recovery === null ? [] : describeRecovery(recovery, dryRun)),
    ...(adopted.length === 0 ? [] : [`Collections of the lost time that were given to an app: ${adopted.join(", ")}.`]),
    ...(ownerless.length === 0
      ? []
      : [
          `Collections of the lost time whose app is not known: ${ownerless.join(", ")}. Say whose they are with --adopt-into.`,
        ]),
    ...comparison.told.map(({ what, stored, chain }) => `${what}: stored ${stored}; on chain ${chain}`),
    ...(left > 0 ? [`and ${left.toString()} more`] : []),
    comparison.differences === 0
      ? `Up to block ${comparison.block.toString()} the database says what the chain says.`
      : `${comparison.differences.toString()} differences up to block ${comparison.block.toString()}${dryRun ? ", nothing was changed" : ", mended"}.`,
  ].join("\n");
}

function describeRecovery(recovery: Recovery, dryRun: boolean): string[] {
  const lanes = recovery.lanes.map(
    ({ address, known, mined }) => `${address} (${known.toString()} known, ${mined.toString()} on chain)`,
  );
  const would = dryRun ? "would be" : "was";
  return [
    "The database is older than the chain.",
    ...(lanes.length === 0 ? [] : [`The next nonce ${would} taken from the chain: ${lanes.join(", ")}.`]),
    `${recovery.transactions.toString()} unknown transactions carried ${recovery.recognised.toString()} requests of this database, ` +
      `and ${recovery.added.toString()} that it does not have; what those did ${would} taken from the chain.`,
    ...(recovery.uncertain.length === 0
      ? []
      : [
          `${recovery.uncertain.length.toString()} waiting requests may have been carried out in the lost time, for calls like theirs ` +
            `are on chain. Unless --run-uncertain is given they fail with number_taken: ${recovery.uncertain.join(", ")}.`,
        ]),
    ...(recovery.lost_wallets.length === 0
      ? []
      : [`Wallets that signed in the lost time and are not in the database: ${recovery.lost_wallets.join(", ")}.`]),
    "What cannot be had back: ids of requests, metadata and unlockable content, idempotency keys and webhook settings of the lost",
    "time. A wallet comes back, with all that it holds, when its app creates the wallet of the same user_identifier again (run this",
    "once more afterwards, for its history); a wallet without user_identifier is lost. Apps, tokens and settings made with the",
    "command line must be made again. The feed of events goes on behind every cursor of the lost time.",
  ];
}
