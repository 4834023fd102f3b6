import { join } from "node:path";

import type { Command } from "commander";
import pino from "pino";

import { LOCAL_CHAIN_ID } from "../../chain/local-contracts.ts";
import { OperatorError } from "../../operator/operator-error.ts";
import { confirmationsOf } from "../../context/chain-defaults.ts";
import type { Workplace } from "../../context/workplace.ts";
import { chain } from "../../doctor/checks/chain.ts";
import { seed } from "../../doctor/checks/seed.ts";
import { examine } from "../../doctor/examine.ts";
import { type ReconcileDeps, ReconcileError } from "../../reconcile/deps.ts";
import { type Reconciliation, reconcile as reconcileWith } from "../../reconcile/reconcile.ts";
import { announced } from "../announced.ts";
import { withServiceState } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeReconciliation } from "./describe.ts";

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
  const { lanes, maxFeeGwei, ipfsPinRpc: pinRpc } = place.settings;
  const context = { ...place, lanes, maxFeeGwei, pinRpc, thorough: false, now: Date.now() };
  const examination = await examine(context, [chain, seed]);
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
    foreignCallGas: place.settings.limits.foreignCallGas,
    maxForeignLogs: place.settings.limits.foreignLogs,
  };
  const app = options.adoptInto === undefined ? null : await appNamed(place.database.read, options.adoptInto);
  try {
    return await reconcileWith(deps, {
      dryRun: options.dryRun === true,
      runUncertain: options.runUncertain === true,
      adoptInto: app?.id ?? null,
      fromStart: options.fromStart === true,
    });
  } catch (error) {
    if (error instanceof ReconcileError) throw new OperatorError(error.message, { cause: error });
    throw error;
  }
}
