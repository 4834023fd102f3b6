import { formatEther, type Provider } from "ethers";

import { blockGasLimit, probeChain, type Rpc, TRANSACTION_GAS_CAP } from "./chain-features.ts";
import { estimateSteps, type StepGas } from "./estimate-gas.ts";
import type { Journal } from "./journal.ts";
import type { Plan } from "./plan.ts";

/** What ethers offers, and plain JSON-RPC calls. */
export type DeployProvider = Provider & Rpc;

/** Prints what the chain supports. @returns false if it lacks something that the contracts need. */
export async function announceChain(plan: Plan, provider: Rpc, from: string): Promise<boolean> {
  const features = await probeChain(provider, plan.chainId, from);
  for (const { name, support, note } of features) {
    console.log(`  chain     ${name}: ${support}${support === "yes" ? "" : ` (${note})`}`);
  }
  const missing = features.filter(({ support, required }) => required && support === "no");
  if (missing.length === 0) return true;
  console.error(
    `This chain does not support ${missing.map(({ name }) => name).join(", ")}. The contracts need the rules of the ` +
      `Prague hard fork or later. Nothing was sent.`,
  );
  process.exitCode = 1;
  return false;
}

/** Prints the cost before anything is spent. @returns false if the deployer cannot pay or a transaction is too large. */
export async function announceCost(
  plan: Plan,
  journal: Journal,
  provider: DeployProvider,
  deployer: string,
  create2Deployer: string | null,
): Promise<boolean> {
  const steps = await estimateSteps(provider, plan, journal, deployer, create2Deployer);
  const { maxFeePerGas, gasPrice } = await provider.getFeeData();
  const price = maxFeePerGas ?? gasPrice ?? 0n;
  for (const { step, gas } of steps) printStep(step, gas, price, journal);
  const total = steps.reduce((sum, { gas }) => sum + (gas ?? 0n), 0n);
  const balance = await provider.getBalance(deployer);
  console.log(
    `  total     about ${total.toString()} gas, ${formatEther(total * price)} at the current gas price ` +
      `(a rollup adds its data fee); the deployer has ${formatEther(balance)}.`,
  );
  console.log(
    create2Deployer === null
      ? "This chain has no CREATE2 deployer: the addresses depend on the deployer's account and its nonces."
      : "With the same owner and public URL, the addresses are the same on every chain (CREATE2).",
  );
  if (!(await fits(provider, steps))) return false;
  if (balance < total * price && Object.keys(journal.steps).length === 0) {
    console.error(
      `The deployer lacks ${formatEther(total * price - balance)}. Send it funds, then run this again. Nothing was sent.`,
    );
    process.exitCode = 1;
    return false;
  }
  return true;
}

function printStep(step: StepGas["step"], gas: bigint | null, price: bigint, journal: Journal): void {
  const begun = journal.steps[step] === undefined ? "" : " (started by an earlier run)";
  const cost =
    gas === null ? "is already deployed" : `about ${gas.toString()} gas, ${formatEther(gas * price)}${begun}`;
  console.log(`  ${step} ${cost}`);
}

/** Each transaction must fit into a block and below the limit for one transaction. */
async function fits(provider: Rpc, steps: StepGas[]): Promise<boolean> {
  const block = (await blockGasLimit(provider)) ?? TRANSACTION_GAS_CAP;
  const limit = block < TRANSACTION_GAS_CAP ? block : TRANSACTION_GAS_CAP;
  const large = steps.filter(({ gas }) => gas !== null && gas > limit);
  for (const { step, gas } of large) {
    console.error(
      `The ${step} needs ${String(gas)} gas, but a transaction on this chain can use at most ${limit.toString()}. Nothing was sent.`,
    );
  }
  if (large.length === 0) return true;
  process.exitCode = 1;
  return false;
}
