import { concat, dataLength, type Provider, toBeHex, type TransactionRequest, ZeroAddress } from "ethers";

import { create2Address, deploymentTransaction, initCode, type Placed, type Step } from "../../chain/deployment.ts";
import { type Journal, stepsOf } from "./journal.ts";

/** What one deployment transaction costs on the connected chain. */
export interface StepGas {
  step: Step;
  /** Null: the contract is already on the chain. */
  gas: bigint | null;
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
  for (const step of stepsOf(journal)) {
    const code = await initCode(step, journal, { ...NOWHERE, ...placed });
    const address = create2Deployer === null ? journal.steps[step]?.address : create2Address(create2Deployer, code);
    if (address !== undefined) placed[step] = address;
    const measured = step === "factory" ? sameSize(code) : code;
    const extra = step === "factory" ? FACTORY_CALLS : 0n;
    const gas = await gasUnlessThere(provider, address, { from, ...deploymentTransaction(create2Deployer, measured) });
    steps.push({ step, gas: gas === null ? null : gas + extra });
  }
  return steps;
}

/** @returns the gas of a deployment, or null if the contract is on the chain. */
async function gasUnlessThere(
  provider: Provider,
  address: string | undefined,
  transaction: TransactionRequest,
): Promise<bigint | null> {
  const exists = async () => address !== undefined && (await provider.getCode(address)) !== "0x";
  if (await exists()) return null;
  try {
    // The state that `exists` looks at. Hardhat would ask for the pending one, which contains transactions of an earlier run.
    return await provider.estimateGas({ ...transaction, blockTag: "latest" });
  } catch (error) {
    // A transaction of an earlier run may have been mined since the look above. CREATE2 then refuses a second contract.
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
