import { concat, dataLength, formatEther, type Provider, toBeHex, Transaction, ZeroAddress } from "ethers";

import type { Placed, Step } from "../../chain/deployment.ts";
import { delegatingCalls, delegationSupport } from "../../chain/delegation.ts";
import { l1DataFees } from "../../chain/l1-data.ts";
import { OperatorError } from "../operator-error.ts";
import { type Journal, stepsOf } from "./journal.ts";
import { type DeployProvider, hasCode, type Say } from "./transactions.ts";

/** EIP-7825: the gas limit of one transaction since the Osaka hard fork. */
const TRANSACTION_GAS_CAP = 16_777_216n;

/** Creation code that runs one opcode and stops; without the opcode the call fails. */
const OPCODES = [
  { name: "PUSH0 (EIP-3855)", code: "0x5f5ff3" },
  { name: "MCOPY (EIP-5656)", code: "0x6000600060005e60006000f3" },
  { name: "transient storage (EIP-1153)", code: "0x600160005d60005c60006000f3" },
];
/** Opcodes that all chains have: PUSH1, PUSH1, RETURN. */
const CONTROL = "0x60006000f3";

/**
 * Asks the node what the chain supports, and prints it. Sends no transaction and needs no funds.
 * @throws OperatorError if the chain lacks something that the contracts need.
 */
export async function announceChain(chainId: bigint, rpc: DeployProvider, from: string, say: Say): Promise<void> {
  const runs = async (code: string) => (await tried(rpc, "eth_call", [{ data: code }, "latest"])) !== null;
  // Without this control, a node that refuses all such calls would look like a chain without the opcode.
  const refusal = (await runs(CONTROL)) ? "no" : "unknown";
  const missing: string[] = [];
  const print = (name: string, support: string, note: string, required: boolean) => {
    say(`  chain     ${name}: ${support}${support === "yes" ? "" : ` (${note})`}`);
    if (required && support === "no") missing.push(name);
  };
  for (const { name, code } of OPCODES)
    print(name, (await runs(code)) ? "yes" : refusal, "the contracts do not run without it", true);
  const fees = (await latestBlock(rpc))?.baseFeePerGas === undefined ? "no" : "yes";
  print("base fee (EIP-1559)", fees, "the service sends only transactions of this type", true);
  const { plain, delegating } = delegatingCalls(chainId, from);
  const gasOf = async (call: object) => {
    const gas = await tried(rpc, "eth_estimateGas", [call]);
    return gas === null ? null : BigInt(gas as string);
  };
  print(
    "delegation (EIP-7702)",
    delegationSupport(await gasOf(plain), await gasOf(delegating)),
    "without it, tokens of foreign contracts cannot be transferred or burnt; everything else works",
    false,
  );
  if (missing.length === 0) return;
  throw new OperatorError(
    `This chain does not support ${missing.join(", ")}. Moneta needs the rules of the ` +
      `Cancun hard fork or later, and fees by EIP-1559. Nothing was sent.`,
  );
}

async function blockGasLimit(rpc: DeployProvider): Promise<bigint | null> {
  const limit = (await latestBlock(rpc))?.gasLimit;
  return limit === undefined ? null : BigInt(limit);
}

async function latestBlock(rpc: DeployProvider): Promise<{ gasLimit?: string; baseFeePerGas?: string } | null> {
  return (await rpc.send("eth_getBlockByNumber", ["latest", false])) as {
    gasLimit?: string;
    baseFeePerGas?: string;
  } | null;
}

/** @returns null when the node refuses the call: the refusal is the answer. */
function tried(rpc: DeployProvider, method: string, params: unknown[]): Promise<unknown> {
  return rpc.send(method, params).catch(() => null);
}

/** What the missing contracts cost at the current gas price. */
interface DeploymentCost {
  /** Gas null: the contract is already on the chain. `l1Fee`: what a rollup charges for the data beside the gas, in wei. */
  steps: { step: Step; gas: bigint | null; l1Fee: bigint }[];
  gas: bigint;
  /** In wei for each unit of gas. */
  price: bigint;
  l1Fee: bigint;
  /** In wei, with that fee. */
  total: bigint;
}

interface Accounts {
  deployer: string;
  create2Deployer: string | null;
}

/** Added to the estimate of the factory for its calls to the implementations, and for a fork's higher prices of them. */
const FACTORY_CALLS = 100_000n;
/** Stands for contracts whose address is not known yet. Their constructors only store it. */
const NOWHERE = { relay: ZeroAddress, erc721Implementation: ZeroAddress, erc1155Implementation: ZeroAddress };
/** A number of usual length in a transaction. */
const MANY = 1_000_000_000n;

/** Asks the node what each missing contract costs. Prices differ between chains and forks, so nothing is computed here. */
export async function costOfSteps(
  journal: Journal,
  provider: DeployProvider,
  { deployer, create2Deployer }: Accounts,
): Promise<DeploymentCost> {
  const placed: Placed = { ...NOWHERE, ...journal.placed };
  const steps: DeploymentCost["steps"] = [];
  const missing: { cost: DeploymentCost["steps"][number]; bytes: string }[] = [];
  for (const { step, address, to, data } of stepsOf(journal, create2Deployer, placed, sameSize)) {
    if (address !== undefined && (await hasCode(provider, address))) {
      steps.push({ step, gas: null, l1Fee: 0n });
      continue;
    }
    // The same state that `hasCode` reads. Hardhat would ask for the pending one, with transactions of an earlier run.
    const measured = await provider.estimateGas({ from: deployer, to, data, blockTag: "latest" });
    const gas = measured + (step === "factory" ? FACTORY_CALLS : 0n);
    const fees = { maxFeePerGas: MANY, maxPriorityFeePerGas: MANY };
    const sent = Transaction.from({ type: 2, chainId: MANY, nonce: 1, to, data, gasLimit: measured, ...fees });
    const cost = { step, gas, l1Fee: 0n };
    missing.push({ cost, bytes: sent.unsignedSerialized });
    steps.push(cost);
  }
  // A node that refuses the question tells no fee.
  const ask = (call: { to: string; data: string }) => provider.call(call).catch(() => null);
  const l1Fees = await l1DataFees(
    (calls) => Promise.all(calls.map(ask)),
    missing.map(({ bytes }) => bytes),
  );
  for (const [index, { cost }] of missing.entries()) cost.l1Fee = l1Fees?.[index] ?? 0n;
  const gas = steps.reduce((sum, step) => sum + (step.gas ?? 0n), 0n);
  const l1Fee = steps.reduce((sum, step) => sum + step.l1Fee, 0n);
  const price = await gasPrice(provider);
  return { steps, gas, price, l1Fee, total: gas * price + l1Fee };
}

/** What a unit of gas costs at most, in wei. */
export async function gasPrice(provider: Provider): Promise<bigint> {
  const fees = await provider.getFeeData();
  return fees.maxFeePerGas ?? fees.gasPrice ?? 0n;
}

/**
 * Creation code that stores the factory's code itself. The factory's constructor calls the implementations, so its own code
 * cannot run before they are deployed. This code can, and costs as much as the factory without its calls, or slightly more.
 */
function sameSize(step: Step, code: string): string {
  // PUSH2 length, DUP1, PUSH1 10, PUSH0, CODECOPY, PUSH0, RETURN: copies what follows and returns it.
  return step === "factory" ? concat(["0x61", toBeHex(dataLength(code), 2), "0x80600a5f395ff3", code]) : code;
}

/** Prints the cost before anything is spent. @throws OperatorError if the deployer cannot pay or a transaction is too large. */
export async function announceCost(
  journal: Journal,
  provider: DeployProvider,
  accounts: Accounts,
  say: Say,
): Promise<void> {
  const { steps, gas, price, l1Fee, total } = await costOfSteps(journal, provider, accounts);
  for (const { step, gas: own, l1Fee: fee } of steps) {
    const begun = journal.steps[step] === undefined ? "" : " (started by an earlier run)";
    const cost =
      own === null ? "is already deployed" : `about ${own.toString()} gas, ${formatEther(own * price + fee)}${begun}`;
    say(`  ${step} ${cost}`);
  }
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
  const block = (await blockGasLimit(provider)) ?? TRANSACTION_GAS_CAP;
  const limit = block < TRANSACTION_GAS_CAP ? block : TRANSACTION_GAS_CAP;
  const large = steps.find((one) => one.gas !== null && one.gas > limit);
  if (large !== undefined)
    throw new OperatorError(
      `The ${large.step} needs ${String(large.gas)} gas, but a transaction on this chain can use at most ${limit.toString()}. Nothing was sent.`,
    );
  if (balance < total && Object.keys(journal.steps).length === 0)
    throw new OperatorError(
      `The deployer lacks ${formatEther(total - balance)}. Send it funds, then run this again. Nothing was sent.`,
    );
}
