import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

import { MissingSetting, requireAccess } from "./access.ts";
import { administer } from "./administer.ts";
import { deployContracts } from "./deploy-contracts.ts";
import { readPlan } from "./plan.ts";
import { verifyContracts } from "./verify.ts";

interface Arguments {
  owner: string;
  operators: string;
  publicUrl: string;
  dryRun: boolean;
  verify: boolean;
}

/**
 * `npm run deploy -- --network <name>`: deploys the relay, both implementations, the factory and the
 * wallet delegate, adds the operators, and writes the addresses to a file. Deploys the bytecode of contracts/generated: nothing is compiled, except for `--verify`.
 */
export default async function deploy(args: Arguments, hre: HardhatRuntimeEnvironment): Promise<void> {
  try {
    await requireAccess(hre);
    await run(args, hre);
  } catch (error) {
    if (!(error instanceof MissingSetting)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

async function run(args: Arguments, hre: HardhatRuntimeEnvironment): Promise<void> {
  const connection = await hre.network.create();
  const { ethers } = connection;
  const [deployer] = await ethers.getSigners();
  if (deployer === undefined) {
    throw new Error(
      "There is no deployer account: set DEPLOYER_PRIVATE_KEY in the environment, or store it with `npx hardhat keystore set DEPLOYER_PRIVATE_KEY`.",
    );
  }
  const plan = await readPlan({ ...args, network: connection.networkName }, ethers.provider, deployer.address);
  console.log(`Deploying to ${plan.network} (chain ${plan.chainId.toString()}) as ${deployer.address}.`);
  const deployed = await deployContracts(plan, deployer);
  if (deployed === null) return;
  await administer(plan, deployed, deployer);
  if (args.verify) await verifyContracts(hre, plan, deployed);
  await connection.close();
}
