import { FOREIGN_CALL_GAS } from "../../config/limits.ts";
import type { Settings } from "../../config/settings.ts";
import { ContractReader } from "../../indexer/contract-reader.ts";
import { Indexer } from "../../indexer/indexer.ts";
import { ReceiptCheck } from "../../indexer/receipt-check.ts";
import { Pruner } from "../../operate/prune.ts";
import { leaseTimes } from "../../shared/lease.ts";
import { blockPollOf, confirmationsOf } from "../chain-defaults.ts";
import type { NamedWorker, WorkerDeps } from "../workers.ts";

/** The workers of the role `indexer`. */
export function indexerWorkers(settings: Settings, deps: WorkerDeps): NamedWorker[] {
  const { database, logger, metrics, now } = deps;
  const lease = leaseTimes(settings.leaseSeconds);
  const pruner = new Pruner({ database, logger, metrics, now, lease, retain: settings.retain });
  return [
    { name: "indexer", worker: createIndexer(settings, deps), critical: true },
    { name: "contracts", worker: createContractReader(settings, deps), critical: false },
    { name: "pruning", worker: pruner, critical: false },
  ];
}

function createIndexer(settings: Settings, deps: WorkerDeps): Indexer {
  const { database, identity, signals, logger, metrics, now, local } = deps;
  const { chainId } = identity;
  const client = deps.client;
  const mode = settings.verifyReceipts;
  return new Indexer({
    database,
    client,
    contracts: identity.contracts,
    signals,
    logger,
    metrics,
    now,
    confirmations: confirmationsOf(settings, local),
    pollInterval: blockPollOf(settings, local),
    foreignCallGas: FOREIGN_CALL_GAS,
    maxForeignMoves: settings.limits.foreignLogs,
    lease: leaseTimes(settings.leaseSeconds),
    receipts: mode === "false" ? null : new ReceiptCheck({ database, client, chainId, mode, logger, metrics }),
  });
}

function createContractReader(settings: Settings, deps: WorkerDeps): ContractReader {
  const { database, client, signals, logger, now, local } = deps;
  return new ContractReader({
    database,
    client,
    wake: signals.contracts,
    logger,
    now,
    confirmations: confirmationsOf(settings, local),
    foreignCallGas: FOREIGN_CALL_GAS,
    readsPerMinute: settings.limits.contractReads,
  });
}
