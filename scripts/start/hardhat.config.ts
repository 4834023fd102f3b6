import { defineConfig } from "hardhat/config";

/**
 * The local chain of `npm start` and `npm run chain`: Hardhat's defaults, with accounts that have coins. The configuration
 * in the root folder also loads the toolbox, which is for development and not installed by these commands.
 */
export default defineConfig({});
