import type { ChainClient } from "../chain/client.ts";
import { readRelayStatus } from "../chain/reads.ts";
import { FUNDS_FOR_BATCHES, isLowOnFunds, offeredPrice, usualBatchCost } from "../domain/conditions.ts";
import type { Db } from "../store/db/sql.ts";
import { readGasMeasurement } from "../store/requests/gas-measurement.ts";
import { allLanes } from "../store/sending/lanes.ts";
import { recentBatchGas } from "../store/sending/spent.ts";

/** What the node says about the installation. */
export interface ChainState {
  /** The newest block. */
  head: number;
  /** null: no relay answers. */
  relayPaused: boolean | null;
  /** Whether gas costs more than the operator accepts: then nothing is sent. */
  feesTooHigh: boolean;
  balances: LaneBalance[];
}

interface LaneBalance {
  lane: number;
  wei: bigint;
  low: boolean;
  /** What to send to it, in wei; null: it is not low. */
  advised: bigint | null;
}

/** @param deps.lanes the lanes of the settings. Lanes of earlier settings send nothing new, so they are never low. */
export async function readChainState(deps: {
  client: ChainClient;
  read: Db;
  relay: string;
  lanes: readonly number[];
  maxFeePerGas: bigint;
}): Promise<ChainState> {
  const { client, read, relay } = deps;
  const rows = await allLanes(read);
  const { measurement } = await readGasMeasurement(read);
  const recentGas = await recentBatchGas(read);
  const [block, priorityFee, { paused }, balances] = await client.nodes.session(() =>
    Promise.all([
      client.latestBlock(),
      client.priorityFee(),
      readRelayStatus(client, relay, []),
      client.balances(rows.map(({ address }) => address)),
    ]),
  );
  const { maxFeePerGas } = deps;
  const baseFee = block.baseFeePerGas ?? 0n;
  const cost = usualBatchCost(recentGas, measurement, offeredPrice(baseFee, priorityFee, maxFeePerGas));
  return {
    head: block.number,
    relayPaused: paused,
    feesTooHigh: baseFee + priorityFee > maxFeePerGas,
    balances: rows.map(({ lane }, index) => {
      const wei = balances[index] ?? 0n;
      const low = deps.lanes.includes(lane) && isLowOnFunds(wei, cost);
      return { lane, wei, low, advised: low ? cost * FUNDS_FOR_BATCHES : null };
    }),
  };
}
