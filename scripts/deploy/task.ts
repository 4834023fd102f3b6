import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

import { environment } from "../../api/config/environment.ts";
import { CUSTOM_NETWORK, NETWORKS } from "../../api/config/networks.ts";
import { parseSettings } from "../../api/config/settings.ts";
import { firstNode } from "../../api/context/chain-link.ts";
import { deploy as deployPlan } from "../../api/operate/deploy/deploy-contracts.ts";
import { type DeployOptions, readPlan } from "../../api/operate/deploy/plan.ts";
import { publishSources } from "../../api/operate/deploy/verify.ts";
import { OperatorError } from "../../api/operate/operator-error.ts";
import { requireAccess, runTask } from "./access.ts";

interface Arguments extends DeployOptions {
  dryRun: boolean;
  verify: boolean;
}

/**
 * `npm run deploy -- --network <name>`: deploys the relay, both implementations, the factory and the
 * wallet delegate, or adds a factory with the other storage, adds the operators, and writes the addresses to a file. Deploys the bytecode of contracts/generated: nothing is compiled.
 */
export default async function deploy(args: Arguments, hre: HardhatRuntimeEnvironment): Promise<void> {
  await runTask(async () => {
    await requireAccess(hre, environment()["RPC_URLS"] !== undefined);
    await run(args, hre);
  });
}

async function run(args: Arguments, hre: HardhatRuntimeEnvironment): Promise<void> {
  // Absent without the option, whatever its type says.
  const wanted = hre.globalOptions.network as string | undefined;
  const known = [...NETWORKS.map(({ name }) => name), CUSTOM_NETWORK].join(" | ");
  if (wanted !== undefined && hre.config.networks[wanted] === undefined)
    throw new OperatorError(
      `--network: ${wanted} is not known. The known chains are ${known}. The last one is any chain: its node is in RPC_URL.`,
    );
  if (hre.config.networks[wanted ?? ""]?.type !== "http")
    throw new OperatorError(`Name the chain: --network ${known}, or another one of hardhat.config.ts.`);
  const url = await listedNode();
  const connection = await hre.network.create(
    url === null ? undefined : { network: hre.globalOptions.network, override: { url } },
  );
  const { ethers } = connection;
  const [deployer] = await ethers.getSigners();
  if (deployer === undefined) {
    throw new Error(
      "There is no deployer account: set DEPLOYER_PRIVATE_KEY in the environment, or store it with `npx hardhat keystore set DEPLOYER_PRIVATE_KEY`.",
    );
  }
  const plan = await readPlan(environment(), args, ethers.provider, deployer.address);
  const say = (line: string) => {
    console.log(line);
  };
  say(`Deploying to ${connection.networkName} (chain ${plan.chainId.toString()}) as ${deployer.address}.`);
  const deployed = await deployPlan(plan, deployer, say);
  if (args.verify && deployed !== null) {
    const { verification } = parseSettings({ PUBLIC_URL: "http://localhost", ...environment() });
    if (!(await publishSources(plan, deployed.deployment, verification, say))) process.exitCode = 1;
  }
  await connection.close();
}

/** Of `RPC_URLS`, the first node that works; null: the URL is that of the network. @throws OperatorError, SettingsError */
async function listedNode(): Promise<string | null> {
  const { RPC_URLS: list } = environment();
  return list === undefined ? null : firstNode(parseSettings({ PUBLIC_URL: "http://localhost", RPC_URLS: list }));
}
