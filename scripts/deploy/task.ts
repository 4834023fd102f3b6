import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

interface Arguments {
  owner: string;
  operators: string;
  publicUrl: string;
  dryRun: boolean;
  verify: boolean;
}

/** `npm run deploy -- --network <name>`: relay, factory and wallet delegate, their operators, and the file that says where. */
export default async function deploy(args: Arguments, hre: HardhatRuntimeEnvironment): Promise<void> {
  await hre.tasks.getTask("build").run({ quiet: true });
  // Only now: these use the bindings that the build makes.
  const { deployContracts } = await import("./deploy-contracts.ts");
  const { administer } = await import("./administer.ts");
  const { readPlan } = await import("./plan.ts");
  const { verifyContracts } = await import("./verify.ts");
  const connection = await hre.network.create();
  const { ethers } = connection;
  const [deployer] = await ethers.getSigners();
  if (deployer === undefined) {
    throw new Error(
      "There is no deployer: set DEPLOYER_PRIVATE_KEY, in the environment or with `npx hardhat keystore set`.",
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
