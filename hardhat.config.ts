import { createRequire } from "node:module";

import toolbox from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { defineConfig } from "hardhat/config";

const require = createRequire(import.meta.url);

export default defineConfig({
  plugins: [toolbox],
  paths: {
    sources: "./contracts",
    tests: { mocha: "./test/contracts", solidity: "./test/contracts" },
  },
  solidity: {
    // The compiler comes from the npm package `solc`, so that nothing is downloaded at build time.
    version: "0.8.37",
    path: require.resolve("solc/soljson.js"),
    settings: {
      evmVersion: "prague",
      viaIR: true,
      optimizer: { enabled: true, runs: 1_000_000 },
      metadata: { bytecodeHash: "none" },
    },
  },
  typechain: { outDir: "./types/ethers-contracts" },
});
