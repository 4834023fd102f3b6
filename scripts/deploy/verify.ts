import { verifyContract } from "@nomicfoundation/hardhat-verify/verify";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

import type { Deployment } from "../../api/chain/contracts.ts";
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
  const { relay, factories, delegate } = deployment;
  const contracts = [
    { address: relay, constructorArgs: [plan.owner, plan.hostedBase] },
    ...factories.flatMap(({ address, erc721Implementation, erc1155Implementation }) => [
      { address: erc721Implementation, constructorArgs: [relay] },
      { address: erc1155Implementation, constructorArgs: [relay] },
      { address, constructorArgs: [relay, erc721Implementation, erc1155Implementation] },
    ]),
    { address: delegate, constructorArgs: [relay] },
  ];
  // Factories share the implementation of ERC1155 collections.
  const once = new Map(contracts.map((contract) => [contract.address, contract]));
  for (const contract of once.values()) {
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
