import type { Signer } from "ethers";

import { findCreate2Deployer } from "../../chain/deployment.ts";
import { costOfSteps, gasPrice } from "./announce.ts";
import { planWork, readDeploymentFile } from "./journal.ts";
import type { Plan } from "./plan.ts";
import { countCalls } from "./relay.ts";
import { providerOf, type Say, sendOnce } from "./transactions.ts";

/** A lane gets the price of this much gas at the start: ten to twenty small transactions, each with many mints. */
const LANE_GAS = 5_000_000n;
/** A lane with less than that amount divided by this gets more. */
const FEW = 4n;
/** A call of `setOperator`, and a plain transfer of coins. */
const OPERATOR_GAS = 60_000n;
const TRANSFER_GAS = 21_000n;
/** Reserve for fees that rise while the coins are on their way, and for the data fee of a rollup: the cost divided by this. */
const RESERVE = 4n;

/** Coins that an account must have. In wei. */
export interface Need {
  address: string;
  balance: bigint;
  /** What it must have in all. */
  wanted: bigint;
}

export interface Needs {
  /** Pays for the deployment, and passes on what the lanes lack. */
  deployer: Need;
  /** In the order of the plan's operators. */
  lanes: Need[];
}

/** What the accounts need now, at the current gas price. Nothing that is deployed, added or funded is counted again. */
export async function needsOf(plan: Plan, deployer: Signer): Promise<Needs> {
  const provider = providerOf(deployer);
  const address = await deployer.getAddress();
  const known = await readDeploymentFile(plan);
  const journal = await planWork(plan, known, 0);
  const { price, total } =
    journal === null
      ? { price: await gasPrice(provider), total: 0n }
      : await costOfSteps(journal, provider, {
          deployer: address,
          create2Deployer: await findCreate2Deployer(provider),
        });
  const lanes: Need[] = [];
  for (const lane of plan.operators) {
    lanes.push({ address: lane, balance: await provider.getBalance(lane), wanted: roundUp(LANE_GAS * price) });
  }
  const poor = lanes.filter(isPoor);
  const missing = poor.reduce((sum, { balance, wanted }) => sum + wanted - balance + TRANSFER_GAS * price, 0n);
  // The calls of the relay that are left for the deployer.
  const calls = plan.owner === address ? await countCalls(plan, known, provider) : 0;
  const gas = total + OPERATOR_GAS * BigInt(calls) * price;
  const wanted = gas + missing === 0n ? 0n : roundUp(gas + gas / RESERVE + missing);
  return { deployer: { address, balance: await provider.getBalance(address), wanted }, lanes };
}

/** Whether the deployer has what is needed for everything that is left. */
export function isFunded({ deployer }: Needs): boolean {
  return deployer.balance >= deployer.wanted;
}

/** Sends each lane what it lacks. */
export async function fundLanes(needs: Needs, deployer: Signer, say: Say): Promise<void> {
  const provider = providerOf(deployer);
  for (const { address, wanted } of needs.lanes) {
    const balance = () => provider.getBalance(address);
    const isDone = async () => !isPoor({ address, wanted, balance: await balance() });
    if (await isDone()) continue;
    const value = wanted - (await balance());
    await sendOnce(deployer, { name: `funds of lane ${address}`, to: address, data: "0x", value, isDone }, say);
  }
}

function isPoor({ balance, wanted }: Need): boolean {
  return balance < wanted / FEW;
}

/** To two digits, so that a person can type it. */
function roundUp(wei: bigint): bigint {
  const unit = 10n ** BigInt(Math.max(0, wei.toString().length - 2));
  return ((wei + unit - 1n) / unit) * unit;
}
