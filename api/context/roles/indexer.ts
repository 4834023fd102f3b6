import { FOREIGN_CALL_GAS } from "../../config/limits.ts";
import { ContractReader } from "../../indexer/contract-reader.ts";
import { Indexer } from "../../indexer/indexer.ts";
import { ReceiptCheck } from "../../indexer/receipt-check.ts";
import { Pruner } from "../../operate/prune.ts";
import { blockPollOf, confirmationsOf } from "../chain-identity.ts";
import type { Context } from "../context.ts";
import type { NamedWorker } from "../workers.ts";

/** The workers of the role `indexer`. */
export function indexerWorkers(context: Context): NamedWorker[] {
  const { settings, database, client, chain, signals, logger, metrics, now, leaseTimes } = context;
  const { chainId, contracts, local } = chain;
  const confirmations = confirmationsOf(settings, local);
  const mode = settings.verifyReceipts;
  const indexer = new Indexer({
    database,
    client,
    contracts,
    signals,
    logger,
    metrics,
    now,
    confirmations,
    pollInterval: blockPollOf(settings, local),
    foreignCallGas: FOREIGN_CALL_GAS,
    maxForeignMoves: settings.limits.foreignLogs,
    leaseTimes,
    receipts: mode === "false" ? null : new ReceiptCheck({ database, client, chainId, mode, logger, metrics }),
  });
  const contractReader = new ContractReader({
    database,
    client,
    wake: signals.contracts,
    logger,
    now,
    confirmations,
    foreignCallGas: FOREIGN_CALL_GAS,
    readsPerMinute: settings.limits.contractReads,
  });
  const pruner = new Pruner({ database, logger, metrics, now, leaseTimes, retain: settings.retain });
  return [
    { name: "indexer", worker: indexer, critical: true },
    { name: "contracts", worker: contractReader, critical: false },
    { name: "pruning", worker: pruner, critical: false },
  ];
}
