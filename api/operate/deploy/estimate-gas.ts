import { concat, dataLength, type Provider, toBeHex, Transaction, type TransactionRequest, ZeroAddress } from "ethers";

import { create2Address, deploymentTransaction, initCode, type Placed, type Step } from "../../chain/deployment.ts";
import { l1DataFees } from "../../chain/l1-data.ts";
import { type Journal, stepsOf } from "./journal.ts";
import { hasCode } from "./transactions.ts";

/** What one deployment transaction costs on the connected chain. */
export interface StepGas {
  step: Step;
  /** Null: the contract is already on the chain. */
  gas: bigint | null;
  /** What a rollup charges for its data beside the gas, in wei. */
  l1Fee: bigint;
}

/** Added to the estimate of the factory for its calls to the implementations, and for a fork's higher prices of them. */
const FACTORY_CALLS = 100_000n;

/** Asks the node what each missing contract costs. Prices differ between chains and forks, so nothing is computed here. */
export async function estimateSteps(
  provider: Provider,
  journal: Journal,
  from: string,
  create2Deployer: string | null,
): Promise<StepGas[]> {
  const placed: Placed = { ...journal.placed };
  const steps: StepGas[] = [];
  const missing: { step: StepGas; bytes: string }[] = [];
  for (const step of stepsOf(journal)) {
    const code = await initCode(step, journal, { ...NOWHERE, ...placed });
    const address = create2Deployer === null ? journal.steps[step]?.address : create2Address(create2Deployer, code);
    if (address !== undefined) placed[step] = address;
    const measured = step === "factory" ? sameSize(code) : code;
    const extra = step === "factory" ? FACTORY_CALLS : 0n;
    const transaction = deploymentTransaction(create2Deployer, measured);
    const gas = await gasUnlessThere(provider, address, { from, ...transaction });
    const found: StepGas = { step, gas: gas === null ? null : gas + extra, l1Fee: 0n };
    steps.push(found);
    if (gas !== null) missing.push({ step: found, bytes: bytesOf(transaction, gas) });
  }
  const fees = await l1DataFees(
    // A node that refuses the question tells no fee.
    (calls) => Promise.all(calls.map((call) => provider.call(call).catch(() => null))),
    missing.map(({ bytes }) => bytes),
  );
  for (const [index, { step }] of missing.entries()) step.l1Fee = fees?.[index] ?? 0n;
  return steps;
}

/** The transaction as the chain stores it, but for its signature. */
function bytesOf({ to, data }: { to?: string | null; data: string }, gasLimit: bigint): string {
  const fees = { maxFeePerGas: MANY, maxPriorityFeePerGas: MANY };
  return Transaction.from({ type: 2, chainId: MANY, nonce: 1, to: to ?? null, data, gasLimit, ...fees })
    .unsignedSerialized;
}

/** A number of usual length in a transaction. */
const MANY = 1_000_000_000n;

/** @returns the gas of a deployment, or null if the contract is on the chain. */
async function gasUnlessThere(
  provider: Provider,
  address: string | undefined,
  transaction: TransactionRequest,
): Promise<bigint | null> {
  const exists = async () => address !== undefined && (await hasCode(provider, address));
  if (await exists()) return null;
  try {
    // The same state that `exists` reads. Hardhat would ask for the pending one, which contains transactions of an earlier run.
    return await provider.estimateGas({ ...transaction, blockTag: "latest" });
  } catch (error) {
    // A transaction of an earlier run may have been mined since the check above. CREATE2 then refuses a second contract.
    if (await exists()) return null;
    throw error;
  }
}

/** Stands for contracts whose address is not known yet. Their constructors only store it. */
const NOWHERE: Placed = {
  relay: ZeroAddress,
  erc721Implementation: ZeroAddress,
  erc1155Implementation: ZeroAddress,
};

/**
 * Creation code that stores `code` itself. The factory's constructor calls the implementations, so its own code cannot run
 * before they are deployed. This code can, and costs as much as the factory without its calls, or slightly more.
 */
function sameSize(code: string): string {
  // PUSH2 length, DUP1, PUSH1 10, PUSH0, CODECOPY, PUSH0, RETURN: copies what follows and returns it.
  return concat(["0x61", toBeHex(dataLength(code), 2), "0x80600a5f395ff3", code]);
}
