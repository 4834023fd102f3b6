import { join } from "node:path";

import type { Command } from "commander";
import pino from "pino";

import { FOREIGN_CALL_GAS } from "../config/limits.ts";
import { LOCAL_CHAIN_ID } from "../chain/local-contracts.ts";
import { confirmationsOf } from "../context/chain-identity.ts";
import type { Workplace } from "../context/workplace.ts";
import { chain } from "../checks/chain-checks.ts";
import { examine } from "../checks/examine.ts";
import { seed } from "../checks/key-checks.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { reconcile as reconcileWith, type Reconciliation } from "../operate/reconcile/reconcile.ts";
import type { Recovery } from "../operate/reconcile/recover.ts";
import type { ReconcileDeps } from "../operate/reconcile/run.ts";
import { plural } from "../shared/text.ts";
import { announced } from "./announced.ts";
import { withServiceState } from "./database.ts";
import { appNamed } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  json?: boolean;
  dryRun?: boolean;
  runUncertain?: boolean;
  adoptInto?: string;
  fromStart?: boolean;
}

export function reconcile(terminal: Terminal): Command {
  return resultCommand("reconcile", "Compare the database with the chain and repair every difference.", {
    examples: ["reconcile --dry-run", "reconcile --adopt-into my-shop"],
    json: "{dry_run, from_block, recovery, comparison: {block, differences, told: [{what, stored, chain}]}, adopted, ownerless}",
    notes:
      "Run it after restoring an old backup, before the service starts. Otherwise the service may run.\n" +
      "If it is interrupted, run it again: it continues with the blocks that were not yet read.",
  })
    .option("--dry-run", "change nothing; only print the differences")
    .option("--run-uncertain", "after an old backup: send requests again that may have run already")
    .option("--adopt-into <app>", "after an old backup: assign collections of unknown apps to this app")
    .option("--from-start", "read all blocks again, even if an earlier run was interrupted")
    .action(async ({ json, ...options }: Options) => {
      const result = await withServiceState(terminal, (place) =>
        options.dryRun === true ? run(place, options) : announced(place.database, () => run(place, options)),
      );
      printResult(terminal, json, result, describeReconciliation(result));
    });
}

async function run(place: Workplace, options: Options): Promise<Reconciliation> {
  const examination = await examine({ ...place, thorough: false, now: Date.now() }, [chain, seed]);
  const bad = examination.findings.filter((finding) => finding.result === "problem");
  const { keyring } = place.keys;
  if (bad.length > 0 || keyring === null) throw new OperatorError(bad.map((finding) => finding.words).join("\n"));
  const deps: ReconcileDeps = {
    database: place.database,
    client: place.client,
    contracts: place.chain.contracts,
    laneAddress: (lane) => keyring.lane(lane).address,
    // Standard output is reserved for the result.
    logger: pino({ level: "error" }, pino.destination(2)),
    confirmations: confirmationsOf(place.settings, place.chain.chainId === LOCAL_CHAIN_ID.toString()),
    now: () => Date.now(),
    folder: join(place.settings.dataDir, "reconcile"),
    foreignCallGas: FOREIGN_CALL_GAS,
    maxForeignMoves: place.settings.limits.foreignLogs,
  };
  const app = options.adoptInto === undefined ? null : await appNamed(place.database.read, options.adoptInto);
  return reconcileWith(deps, {
    dryRun: options.dryRun === true,
    runUncertain: options.runUncertain === true,
    adoptInto: app?.id ?? null,
    fromStart: options.fromStart === true,
  });
}

/** The result as text: what was repaired, what the operator must do, and what cannot be recovered. */
function describeReconciliation(result: Reconciliation): string {
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
      : [
          `Collections of unknown apps: ${ownerless.join(", ")}. If this service made them, assign them to an app with --adopt-into.`,
        ]),
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
    "To restore a wallet with all its tokens, its app creates a wallet with the same user_identifier again. If the wallet was",
    "renamed, its first user_identifier counts. Then run this command once more to restore its history. A wallet without",
    "user_identifier is lost. Imported keys are not on chain: run `wallets import` with them again.",
    "Apps, tokens and settings made since the backup must be created again. The event feed continues after every cursor",
    "that was handed out since the backup.",
  ];
}
