import {
  type CalldataFloor,
  type GasMeasurement,
  MAX_TRANSACTION_GAS,
  measurementFromSlotPrice,
  UNMEASURED_GAS,
} from "../domain/gas-measurement.ts";
import { abi } from "./abi.ts";
import type { ChainClient } from "./client.ts";
import type { ContractAddresses } from "./contracts.ts";
import { measureCalls } from "./gas-probe.ts";

/** The smallest gas limit of a transaction that is tried. */
const LEAST_TRANSACTION_GAS = 2_000_000;
/** The gas of one more cancelled number, besides the new slot of the relay's bitmap: its calldata and its event. */
const CANCEL_OVERHEAD = 2_000;
const CANCEL_GAS = 2_000_000;
/** Bytes of calldata whose price is asked for. Many: some nodes round their estimates up by a part of the whole. */
const FLOOR_BYTES = 4_096;
const FLOOR_GAS = 2_000_000;

/**
 * Measures what the service's calls cost on the connected chain. Sends nothing and needs no funds.
 * @param operator an account that may send batches.
 * @returns null when the node supports no way to measure.
 * @throws ChainUnavailable
 */
export async function measureGas(
  client: ChainClient,
  service: { contracts: ContractAddresses; chainId: bigint; operator: string },
): Promise<GasMeasurement | null> {
  const { contracts, chainId, operator } = service;
  const calls =
    (await measureCalls(client, contracts, chainId)) ??
    (await estimateFromSlotPrice(client, contracts.relay, operator));
  if (calls === null) return null;
  const floor = (await calldataFloor(client, operator)) ?? UNMEASURED_GAS.floor;
  return { ...calls, floor, transactionGas: await transactionGas(client) };
}

/**
 * What calldata costs at least, as the estimates for plain calldata to an account without code show: nothing, many zeros, and as
 * many other bytes. @returns null when the node does not estimate them
 */
async function calldataFloor(client: ChainClient, account: string): Promise<CalldataFloor | null> {
  const calls = ["", "00", "ff"].map((byte) => ({ from: account, to: account, data: `0x${byte.repeat(FLOOR_BYTES)}` }));
  const estimates = (await client.estimateNext(calls, FLOOR_GAS)).flatMap((gas) => (gas === null ? [] : Number(gas)));
  const [base, zeros, others] = estimates;
  if (base === undefined || zeros === undefined || others === undefined) return null;
  const priceOf = (gas: number) => Math.max(0, Math.ceil((gas - base) / FLOOR_BYTES));
  return { base, zero: priceOf(zeros), other: priceOf(others) };
}

/**
 * Without state overrides only calls that need no collection can be estimated. The difference between cancelling two numbers
 * and one is a new slot of the relay's bitmap.
 */
async function estimateFromSlotPrice(
  client: ChainClient,
  relay: string,
  operator: string,
): Promise<GasMeasurement | null> {
  const numbers = [1n << 255n, (1n << 255n) + 256n];
  const calls = [numbers.slice(0, 1), numbers].map((cancelled) => ({
    from: operator,
    to: relay,
    data: abi.relay.encodeFunctionData("cancel", [cancelled]),
  }));
  const [one, two] = await client.simulateCalls(calls, await client.headNumber(), CANCEL_GAS);
  if (one == null || two == null || !("gas" in one) || !("gas" in two)) return null;
  return measurementFromSlotPrice(Number(two.gas - one.gas) - CANCEL_OVERHEAD);
}

/** The highest gas limit, up to that of EIP-7825, with which the node lets a transaction run. */
async function transactionGas(client: ChainClient): Promise<number> {
  for (let gas = MAX_TRANSACTION_GAS; gas >= LEAST_TRANSACTION_GAS; gas = Math.floor(gas / 2)) {
    if (await client.acceptsGas(gas)) return gas;
  }
  // A node that refuses all of them cannot tell.
  return MAX_TRANSACTION_GAS;
}
