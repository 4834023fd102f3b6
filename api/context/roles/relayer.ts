import { MediaResults } from "../../content/copy/media-results.ts";
import { GWEI } from "../../domain/wei.ts";
import type { RelayerContext } from "../../relayer/context.ts";
import { Doubts } from "../../relayer/doubts.ts";
import { ForeignSimulations } from "../../relayer/foreign-simulations.ts";
import { GasMeter } from "../../relayer/gas-meter.ts";
import { LaneShare } from "../../relayer/lane-share.ts";
import { Lane } from "../../relayer/lane.ts";
import { Presence } from "../../store/db/presence.ts";
import type { Context } from "../context.ts";
import { needed } from "../keys.ts";
import type { NamedWorker } from "../workers.ts";

/**
 * The workers of the role `relayer`. Gas is measured once before the lanes start, and the other relayers know of this one.
 * @param opened ends that.
 */
export async function relayerWorkers(context: Context, opened: AsyncDisposableStack): Promise<NamedWorker[]> {
  const { settings, database, chain, signals, logger, metrics, now, leaseTimes } = context;
  const { chainId, contracts, local } = chain;
  const { itemGas: maxItemGas, simulationSeconds } = settings.limits;
  const keyring = needed(context.keys.keyring);
  const client = context.client.as("lane");
  const gas = new GasMeter({ database, client: context.client, contracts, chainId, keyring, logger });
  await gas.open();
  const relayers = await Presence.join("relayer", context, opened);
  const budget = simulationSeconds * 1_000;
  const simulations = new ForeignSimulations({ client, read: database.read, contracts, maxItemGas, budget, logger });
  const doubts = new Doubts(local);
  const share = new LaneShare(settings.lanes.length, relayers, leaseTimes);
  const contextOf = (index: number): RelayerContext => ({
    database,
    client,
    chainId,
    contracts,
    keyring,
    signals,
    logger: logger.child({ lane: index }),
    metrics,
    now,
    gas,
    maxItemGas,
    maxFeePerGas: BigInt(settings.maxFeeGwei) * GWEI,
    simulations,
    doubts,
    share,
    leaseTimes,
    rebroadcastAfter: settings.rebroadcastSeconds * 1_000,
    replaceAfter: settings.replaceSeconds * 1_000,
  });
  const lanes = context.lanes.map((index) => ({
    name: `lane ${index.toString()}`,
    worker: new Lane(contextOf(index), index, !settings.lanes.includes(index)),
    critical: true,
  }));
  return [
    // It makes requests ready for the lanes.
    { name: "media results", worker: new MediaResults(context), critical: true },
    { name: "simulations", worker: simulations, critical: false },
    ...lanes,
    { name: "gas", worker: gas, critical: false },
  ];
}
