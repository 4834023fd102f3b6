import type { DoctorContext } from "./check.ts";
import { fullBatchCost } from "../domain/conditions.ts";
import { MAX_TRANSACTION_GAS } from "../domain/gas-measurement.ts";
import { readGasMeasurement } from "../store/requests/gas-measurement.ts";
import { allLanes } from "../store/sending/lanes.ts";

export interface LaneFunds {
  lane: number;
  address: string;
  /** In wei. */
  balance: bigint;
}

/** @returns what each lane of the settings has, and what a full batch may cost at the present fees, in wei. */
export async function readLaneFunds({
  client,
  database,
  keys,
  lanes,
}: Pick<DoctorContext, "client" | "database" | "keys" | "lanes">): Promise<{ funds: LaneFunds[]; batchCost: bigint }> {
  const addresses = new Map((await allLanes(database.read)).map((row) => [row.lane, row.address]));
  for (const lane of lanes) {
    const address = addresses.get(lane) ?? keys.keyring?.lane(lane).address;
    if (address !== undefined) addresses.set(lane, address);
  }
  const [block, priorityFee] = [await client.latestBlock(), await client.priorityFee()];
  const { measurement } = await readGasMeasurement(database.read);
  const gas = Math.min(measurement?.transactionGas ?? MAX_TRANSACTION_GAS, Number(block.gasLimit));
  const used = [...addresses].filter(([lane]) => lanes.includes(lane));
  const balances = await client.balances(used.map(([, address]) => address));
  return {
    funds: used.map(([lane, address], index) => ({ lane, address, balance: balances[index] ?? 0n })),
    batchCost: fullBatchCost(gas, { baseFee: block.baseFeePerGas ?? 0n, priorityFee }),
  };
}
