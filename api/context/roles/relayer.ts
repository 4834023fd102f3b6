import type { ChainClient } from "../../chain/client.ts";
import { LOCAL_CHAIN_ID } from "../../chain/local-contracts.ts";
import type { Settings } from "../../config/settings.ts";
import { MediaResults } from "../../content/copy/media-results.ts";
import { GWEI } from "../../domain/wei.ts";
import type { Keyring } from "../../keys/keyring.ts";
import type { RelayerContext } from "../../relayer/context.ts";
import { GasMeter } from "../../relayer/gas-meter.ts";
import { LaneShare, type Relayers } from "../../relayer/lane-share.ts";
import { Lane } from "../../relayer/lane.ts";
import { Doubts } from "../../relayer/doubts.ts";
import { ForeignSimulations } from "../../relayer/foreign-simulations.ts";
import { leaseTimes } from "../../shared/lease.ts";
import type { ChainIdentity } from "../chain-identity.ts";
import type { CheckedKeys } from "../check-keys.ts";
import { joinProcesses, type PresenceParts } from "../presence.ts";
import type { NamedWorker, WorkerDeps } from "../workers.ts";

/** What the role `relayer` needs. */
export interface Signing {
  keyring: Keyring;
  /** The lanes that this process drives, with those that the settings no longer have. */
  lanes: number[];
  /** Knows what calls cost. */
  gas: GasMeter;
  /** The processes that share the lanes. */
  relayers: Relayers;
}

/** Opens the meter, which measures once before the lanes start, and joins the other relayers. */
export async function openSigning(
  settings: Settings,
  signing: NonNullable<CheckedKeys["signing"]>,
  deps: PresenceParts & { identity: ChainIdentity; client: ChainClient },
  opened: AsyncDisposableStack,
): Promise<Signing> {
  const client = deps.client;
  const gas = new GasMeter({ ...deps.identity, ...deps, client, keyring: signing.keyring });
  await gas.open();
  return { ...signing, gas, relayers: await joinProcesses("relayer", settings, deps, opened) };
}

/** The workers of the role `relayer`. */
export function relayerWorkers(settings: Settings, parts: WorkerDeps, signing: Signing): NamedWorker[] {
  const deps = { ...parts, client: parts.client.as("first") };
  const simulations = createSimulations(settings, deps);
  const doubts = new Doubts(deps.identity.chainId === LOCAL_CHAIN_ID);
  const share = new LaneShare(settings.lanes.length, signing.relayers, leaseTimes(settings.leaseSeconds));
  const lanes = signing.lanes.map((index) => ({
    name: `lane ${index.toString()}`,
    worker: new Lane(
      contextOf(settings, { ...deps, signing, simulations, doubts, share }, index),
      index,
      !settings.lanes.includes(index),
    ),
    critical: true,
  }));
  return [
    // It makes requests ready for the lanes.
    { name: "media results", worker: new MediaResults(deps), critical: true },
    { name: "simulations", worker: simulations, critical: false },
    ...lanes,
    { name: "gas", worker: signing.gas, critical: false },
  ];
}

function createSimulations(settings: Settings, deps: WorkerDeps): ForeignSimulations {
  const { database, client, identity, logger } = deps;
  const { itemGas, simulationSeconds } = settings.limits;
  return new ForeignSimulations({
    client,
    read: database.read,
    contracts: identity.contracts,
    maxItemGas: itemGas,
    budget: simulationSeconds * 1000,
    logger,
  });
}

/** What the lane with this number works with. */
function contextOf(
  settings: Settings,
  deps: WorkerDeps & { signing: Signing; simulations: ForeignSimulations; doubts: Doubts; share: LaneShare },
  index: number,
): RelayerContext {
  return {
    database: deps.database,
    client: deps.client,
    chainId: deps.identity.chainId,
    contracts: deps.identity.contracts,
    keyring: deps.signing.keyring,
    signals: deps.signals,
    logger: deps.logger.child({ lane: index }),
    metrics: deps.metrics,
    now: deps.now,
    gas: deps.signing.gas,
    maxItemGas: settings.limits.itemGas,
    maxFeePerGas: BigInt(settings.maxFeeGwei) * GWEI,
    simulations: deps.simulations,
    doubts: deps.doubts,
    share: deps.share,
    lease: leaseTimes(settings.leaseSeconds),
    rebroadcastAfter: settings.rebroadcastSeconds * 1000,
    replaceAfter: settings.replaceSeconds * 1000,
  };
}
