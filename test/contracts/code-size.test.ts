import { expect } from "chai";
import hre from "hardhat";

/**
 * Upper bounds in bytes. Each byte of code costs 200 gas to deploy, and about 1,530 after the Amsterdam hard fork. Code
 * above 24,576 bytes cannot be deployed (EIP-170).
 */
const MAX_CODE_SIZE = {
  Relay: 5_500,
  ERC721Collection: 20_300,
  ERC1155Collection: 22_500,
  CompactERC721Collection: 21_500,
  CollectionFactory: 4_200,
  WalletDelegate: 3_700,
};

describe("deployed code", () => {
  for (const [name, limit] of Object.entries(MAX_CODE_SIZE)) {
    it(`keeps the code of ${name} at or below ${limit.toLocaleString("en-US")} bytes`, async function () {
      // Code instrumented for coverage is larger.
      if (hre.globalOptions.coverage) this.skip();
      const { deployedBytecode } = await hre.artifacts.readArtifact(name);
      expect((deployedBytecode.length - 2) / 2).to.be.at.most(limit);
    });
  }
});
