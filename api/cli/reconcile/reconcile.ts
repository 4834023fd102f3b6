import type { Command } from "commander";
import pino from "pino";

import { LOCAL_CHAIN_ID } from "../../chain/local-contracts.ts";
import { OperatorError } from "../../operator/operator-error.ts";
import { parseSettings } from "../../config/settings.ts";
import { confirmationsOf } from "../../context/confirmations.ts";
import { withWorkplace, type Workplace } from "../../context/workplace.ts";
import { chain } from "../../doctor/checks/chain.ts";
import { seed } from "../../doctor/checks/seed.ts";
import { examine } from "../../doctor/examine.ts";
import { type ReconcileDeps, ReconcileError } from "../../reconcile/deps.ts";
import { type Reconciliation, reconcile as reconcileWith } from "../../reconcile/reconcile.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeReconciliation } from "./describe.ts";

interface Options {
  json?: boolean;
  dryRun?: boolean;
  runUncertain?: boolean;
  adoptInto?: string;
}

export function reconcile(terminal: Terminal): Command {
  return resultCommand("reconcile", "Read the chain anew, compare it with the database, and mend what differs.")
    .option("--dry-run", "change nothing, only say what differs")
    .option("--run-uncertain", "old backups: run requests that may have been carried out before")
    .option("--adopt-into <app>", "old backups: the app that gets collections whose app is not known")
    .addHelpText(
      "after",
      "\nAlso makes an old backup safe to start with. The service may run, except with an old backup.\n" +
        "JSON: {dry_run, recovery, comparison: {block, differences, told: [{what, stored, chain}]}, adopted, ownerless}",
    )
    .action(async ({ json, ...options }: Options) => {
      const result = await withWorkplace(parseSettings(terminal.env), (place) => run(place, options));
      printResult(terminal, json, result, describeReconciliation(result));
    });
}

async function run(place: Workplace, options: Options): Promise<Reconciliation> {
  const { lanes, ipfsPinRpc: pinRpc } = place.settings;
  const context = { ...place, lanes, pinRpc, thorough: false, now: Date.now() };
  const examination = await examine(context, [chain, seed]);
  const bad = examination.findings.filter((finding) => finding.result === "problem");
  const { keyring } = place.keys;
  if (bad.length > 0 || keyring === null) throw new OperatorError(bad.map((finding) => finding.words).join("\n"));
  const deps: ReconcileDeps = {
    database: place.database,
    client: place.client,
    contracts: place.chain.contracts,
    laneAddress: (lane) => keyring.lane(lane).address,
    // Standard output is for the result.
    logger: pino({ level: "error" }, pino.destination(2)),
    confirmations: confirmationsOf(place.settings, place.chain.chainId === LOCAL_CHAIN_ID.toString()),
    now: () => Date.now(),
  };
  const app = options.adoptInto === undefined ? null : await appNamed(place.database.read, options.adoptInto);
  try {
    return await reconcileWith(deps, {
      dryRun: options.dryRun === true,
      runUncertain: options.runUncertain === true,
      adoptInto: app?.id ?? null,
    });
  } catch (error) {
    if (error instanceof ReconcileError) throw new OperatorError(error.message, { cause: error });
    throw error;
  }
}
