import { createRequire } from "node:module";

import toolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { configVariable, defineConfig, task } from "hardhat/config";
import { ArgumentType } from "hardhat/types/arguments";

import { CUSTOM_NETWORK, NETWORKS, rpcVariable } from "./api/config/networks.ts";
import { ownWarnings } from "./scripts/contracts/warnings.ts";

const require = createRequire(import.meta.url);

/**
 * For tests: HARDFORK names the rules of local chains. FORK_URL is a node whose chain `hardhat node` continues under these rules,
 * after the block FORK_BLOCK; FORK_CACHE is the folder for what it reads there.
 */
const { HARDFORK: hardfork, FORK_URL: forkUrl, FORK_BLOCK: forkBlock, FORK_CACHE: forkCache } = process.env;
const local = { type: "edr-simulated" as const, ...(hardfork === undefined ? {} : { hardfork }) };

/** The account that pays for deployments. Its key comes from Hardhat's keystore (`npx hardhat keystore set`) or the environment. */
const accounts = [configVariable("DEPLOYER_PRIVATE_KEY")];

/** The compiler comes from the npm package `solc`, so a build downloads nothing. */
const compiler = { version: "0.8.37", path: require.resolve("solc/soljson.js") };
const settings = {
  evmVersion: "cancun",
  viaIR: true,
  optimizer: { enabled: true, runs: 1_000_000 },
  metadata: { bytecodeHash: "none" },
};

/** Without it, the help would show the empty default beside what the description says. */
const OPTIONAL = { type: ArgumentType.STRING_WITHOUT_DEFAULT, defaultValue: undefined } as const;

const deploy = task("deploy", "Deploys the contracts; running it again is safe")
  .addOption({ name: "owner", description: "Owner of the relay (default: the deployer)", ...OPTIONAL })
  .addOption({
    name: "operators",
    description: "Lane addresses, separated by commas (default: derived from SEED_FILE)",
    ...OPTIONAL,
  })
  .addOption({ name: "publicUrl", description: "Public URL of the service (default: PUBLIC_URL)", ...OPTIONAL })
  .addOption({
    name: "storage",
    description: "Storage of new ERC721 collections: compact or standard (default: compact, or as chosen before)",
    ...OPTIONAL,
  })
  .addFlag({ name: "dryRun", description: "Check the chain, print the cost and send nothing" })
  .addFlag({ name: "verify", description: "Publish the sources at Sourcify, and at Etherscan with ETHERSCAN_API_KEY" })
  .setAction(() => import("./scripts/deploy/task.ts"))
  .build();

const relay = task("relay", "Shows or changes the state of the relay; its owner signs")
  .addPositionalArgument({
    name: "action",
    description: "status, pause, unpause, add-operator, remove-operator or cancel",
    defaultValue: "status",
  })
  .addVariadicArgument({
    name: "values",
    description: "Addresses of operators, or request numbers to cancel",
    defaultValue: [],
  })
  .addOption({ name: "relay", description: "Address of the relay (default: of the deployment file)", ...OPTIONAL })
  .setAction(() => import("./scripts/relay/task.ts"))
  .build();

export default defineConfig({
  plugins: [toolbox, ownWarnings],
  tasks: [deploy, relay],
  paths: {
    sources: "./contracts",
    ...(forkCache === undefined ? {} : { cache: forkCache }),
    tests: { mocha: "./test/contracts", solidity: "./test/contracts" },
  },
  solidity: {
    profiles: {
      default: { ...compiler, settings },
      // Compiles in an eighth of the time. Only `npm test` uses it, for the tests in Solidity: their rules hold in any form.
      quick: { ...compiler, settings: { ...settings, viaIR: false, optimizer: { enabled: true, runs: 200 } } },
    },
  },
  // The short form. `npm run test:contracts -- --invariants` runs the long form.
  test: { solidity: { fuzz: { runs: 100 }, invariant: { runs: 12, depth: 60 } } },
  typechain: { outDir: "./types/ethers-contracts" },
  // The blocks of a chain that a local node continues were made under these rules.
  chainDescriptors: { 31_337: { name: "Local", hardforkHistory: { osaka: { blockNumber: 0 } } } },
  networks: {
    // In Amsterdam, code costs so much that the larger contracts fit only into transactions without the limit of EIP-7825.
    default:
      hardfork === "amsterdam" ? { ...local, transactionGasCap: false as const, blockGasLimit: 200_000_000 } : local,
    // As in scripts/start/hardhat.config.ts.
    node: {
      ...local,
      allowBlocksWithSameTimestamp: true,
      ...(forkUrl === undefined ? {} : { forking: { url: forkUrl, blockNumber: Number(forkBlock) } }),
    },
    localhost: { type: "http", url: process.env["LOCALHOST_RPC_URL"] ?? "http://127.0.0.1:8545" },
    ...Object.fromEntries(
      [...NETWORKS, { name: CUSTOM_NETWORK, kind: "generic" as const }].map(({ name, kind }) => [
        name,
        { type: "http" as const, chainType: kind, url: configVariable(rpcVariable(name)), accounts },
      ]),
    ),
  },
});
