import { verifyContract } from "@nomicfoundation/hardhat-verify/verify";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

import type { Deployment } from "../../api/operate/deploy/journal.ts";
import type { Plan } from "../../api/operate/deploy/plan.ts";

/** Publishes the sources on the block explorer that Hardhat knows for the chain. A contract that fails does not stop the others. */
export async function verifyContracts(
  hre: HardhatRuntimeEnvironment,
  plan: Plan,
  deployment: Deployment,
): Promise<void> {
  console.log(
    "Compiling the contracts: the explorer needs the sources and compiler settings. This takes about a minute.",
  );
  await hre.tasks.getTask("build").run({ noTests: true, quiet: true });
  const { relay, erc721Implementation, erc1155Implementation, factory, delegate } = deployment;
  const contracts = [
    { address: relay, constructorArgs: [plan.owner, plan.hostedBase] },
    { address: erc721Implementation, constructorArgs: [relay] },
    { address: erc1155Implementation, constructorArgs: [relay] },
    { address: factory, constructorArgs: [relay, erc721Implementation, erc1155Implementation] },
    { address: delegate, constructorArgs: [relay] },
  ];
  for (const contract of contracts) {
    try {
      await verifyContract(contract, hre);
    } catch (error) {
      console.error(
        `  verify    ${contract.address} is not verified: ${error instanceof Error ? error.message : String(error)}`,
      );
      process.exitCode = 1;
    }
  }
  if (process.exitCode === 1) {
    console.error("  to do     run the same command again to retry the verification; nothing is deployed twice");
  }
}
