import { defineConfig } from "hardhat/config";
/**
 * The local chain of `npm run chain`, and of `npm start` where Anvil is missing: Hardhat's defaults, with accounts that have
 * coins. The configuration in the root folder also loads the toolbox, which is for development and not installed by these
 * commands. Each transaction gets a block. If each block needed a later second than its parent, the chain's clock would run
 * ahead while many are mined.
 */
export default defineConfig({ networks: { node: { type: "edr-simulated", allowBlocksWithSameTimestamp: true } } });
