import { formatEther, type Provider } from "ethers";

import { OperatorError } from "../operator-error.ts";
import { blockGasLimit, probeChain, type RawRpc, TRANSACTION_GAS_CAP } from "./chain-features.ts";
import { estimateSteps, type StepGas } from "./estimate-gas.ts";
import type { Journal } from "./journal.ts";
import type { Plan } from "./plan.ts";
import type { DeployProvider, Say } from "./transactions.ts";

/** Prints what the chain supports. @throws OperatorError if it lacks something that the contracts need. */
export async function announceChain(plan: Plan, provider: RawRpc, from: string, say: Say): Promise<void> {
  const features = await probeChain(provider, plan.chainId, from);
  for (const { name, support, note } of features) {
    say(`  chain     ${name}: ${support}${support === "yes" ? "" : ` (${note})`}`);
  }
  const missing = features.filter(({ support, required }) => required && support === "no");
  if (missing.length === 0) return;
  throw new OperatorError(
    `This chain does not support ${missing.map(({ name }) => name).join(", ")}. Moneta needs the rules of the ` +
      `Cancun hard fork or later, and fees by EIP-1559. Nothing was sent.`,
  );
}

/** What the missing contracts cost at the current gas price. */
interface DeploymentCost {
  steps: StepGas[];
  gas: bigint;
  /** In wei for each unit of gas. */
  price: bigint;
  /** What a rollup charges for the data beside the gas, in wei. */
  l1Fee: bigint;
  /** In wei, with that fee. */
  total: bigint;
}

export async function costOfSteps(
  journal: Journal,
  provider: DeployProvider,
  { deployer, create2Deployer }: { deployer: string; create2Deployer: string | null },
): Promise<DeploymentCost> {
  const steps = await estimateSteps(provider, journal, deployer, create2Deployer);
  const price = await gasPrice(provider);
  const gas = steps.reduce((sum, step) => sum + (step.gas ?? 0n), 0n);
  const l1Fee = steps.reduce((sum, step) => sum + step.l1Fee, 0n);
  return { steps, gas, price, l1Fee, total: gas * price + l1Fee };
}

/** What a unit of gas costs at most, in wei. */
export async function gasPrice(provider: Provider): Promise<bigint> {
  const fees = await provider.getFeeData();
  return fees.maxFeePerGas ?? fees.gasPrice ?? 0n;
}

/** Prints the cost before anything is spent. @throws OperatorError if the deployer cannot pay or a transaction is too large. */
export async function announceCost(
  journal: Journal,
  provider: DeployProvider,
  accounts: { deployer: string; create2Deployer: string | null },
  say: Say,
): Promise<void> {
  const { steps, gas, price, l1Fee, total } = await costOfSteps(journal, provider, accounts);
  for (const each of steps) say(describeStep(each, price, journal));
  const balance = await provider.getBalance(accounts.deployer);
  say(
    `  total     about ${gas.toString()} gas, ${formatEther(total)} at the current gas price` +
      `${l1Fee === 0n ? "" : `, ${formatEther(l1Fee)} of it for L1 data`}; the deployer has ${formatEther(balance)}.`,
  );
  say(
    accounts.create2Deployer === null
      ? "This chain has no CREATE2 deployer: the addresses depend on the deployer's account and its nonces."
      : "With the same owner and public URL, the addresses are the same on every chain (CREATE2).",
  );
  await requireRoom(provider, steps);
  if (balance < total && Object.keys(journal.steps).length === 0) {
    throw new OperatorError(
      `The deployer lacks ${formatEther(total - balance)}. Send it funds, then run this again. Nothing was sent.`,
    );
  }
}

function describeStep({ step, gas, l1Fee }: StepGas, price: bigint, journal: Journal): string {
  const begun = journal.steps[step] === undefined ? "" : " (started by an earlier run)";
  const cost =
    gas === null ? "is already deployed" : `about ${gas.toString()} gas, ${formatEther(gas * price + l1Fee)}${begun}`;
  return `  ${step} ${cost}`;
}

/** Each transaction must fit into a block and below the limit for one transaction. @throws OperatorError */
async function requireRoom(provider: RawRpc, steps: StepGas[]): Promise<void> {
  const block = (await blockGasLimit(provider)) ?? TRANSACTION_GAS_CAP;
  const limit = block < TRANSACTION_GAS_CAP ? block : TRANSACTION_GAS_CAP;
  const large = steps.filter(({ gas }) => gas !== null && gas > limit);
  if (large.length === 0) return;
  const lines = large.map(
    ({ step, gas }) =>
      `The ${step} needs ${String(gas)} gas, but a transaction on this chain can use at most ${limit.toString()}. Nothing was sent.`,
  );
  throw new OperatorError(lines.join("\n"));
}
