import type { Recovery } from "../../reconcile/recover.ts";
import type { Reconciliation } from "../../reconcile/reconcile.ts";
import { plural } from "../../shared/plural.ts";

/** The result as text: what was repaired, what the operator must do, and what cannot be recovered. */
export function describeReconciliation(result: Reconciliation): string {
  const { comparison, recovery, adopted, ownerless, dry_run: dryRun } = result;
  const left = comparison.differences - comparison.told.length;
  const differences = plural(comparison.differences, "difference");
  return [
    ...(recovery === null ? [] : describeRecovery(recovery, dryRun)),
    ...(adopted.length === 0
      ? []
      : [`Collections made since the backup, now assigned to an app: ${adopted.join(", ")}.`]),
    ...(ownerless.length === 0
      ? []
      : [`Collections of unknown apps: ${ownerless.join(", ")}. Assign them to an app with --adopt-into.`]),
    ...comparison.told.map(({ what, stored, chain }) => `${what}: stored ${stored}; on chain ${chain}`),
    ...(left > 0 ? [`and ${left.toString()} more`] : []),
    comparison.differences === 0
      ? `The database matches the chain up to block ${comparison.block.toString()}.`
      : `${differences} up to block ${comparison.block.toString()}: ${dryRun ? "nothing was changed" : "repaired"}.`,
  ].join("\n");
}

function describeRecovery(recovery: Recovery, dryRun: boolean): string[] {
  const lanes = recovery.lanes.map(
    ({ address, known, mined }) => `${address} (${known.toString()} in the database, ${mined.toString()} on chain)`,
  );
  const copied = dryRun ? "would be copied" : "were copied";
  return [
    "The database is an old backup: the chain has transactions that it does not know.",
    ...(lanes.length === 0 ? [] : [`Nonces that ${copied} from the chain: ${lanes.join(", ")}.`]),
    `${plural(recovery.transactions, "unknown transaction")} carried ${plural(recovery.recognised, "request")} of this database ` +
      `and ${plural(recovery.added, "unknown request")}. The results of the unknown ones ${copied} from the chain.`,
    ...(recovery.uncertain.length === 0
      ? []
      : [
          `Waiting requests that may have run already, because the chain has a call like theirs: ${recovery.uncertain.join(", ")}. ` +
            "They fail with number_taken, unless --run-uncertain is given.",
        ]),
    ...(recovery.lost_wallets.length === 0
      ? []
      : [`Wallets that signed on chain but are not in the database: ${recovery.lost_wallets.join(", ")}.`]),
    "Lost since the backup: request ids, metadata, unlockable content, idempotency keys and webhook settings.",
    "To restore a wallet with all its tokens, its app creates a wallet with the same user_identifier again. Then run this",
    "command once more to restore its history. A wallet without user_identifier is lost.",
    "Apps, tokens and settings made since the backup must be created again. The event feed continues after every cursor",
    "that was handed out since the backup.",
  ];
}
