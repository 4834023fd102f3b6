import { expect } from "chai";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";

import { ownWarnings } from "../../../scripts/contracts/warnings.ts";

function errorAt(place: string, severity: "error" | "warning" = "warning") {
  const formattedMessage = `Warning: Unused local variable.\n  --> ${place}:3:29:\n  |\n`;
  return { type: "", component: "general", message: "Unused local variable.", severity, formattedMessage };
}

describe("the compiler's warnings", () => {
  it("are those about own contracts, and all errors", async () => {
    const kept = [errorAt("./contracts/Relay.sol"), errorAt("./node_modules/solady/src/tokens/ERC721.sol", "error")];
    const errors = [...kept, errorAt("./node_modules/solady/src/tokens/ERC721.sol")];
    const hre = await createHardhatRuntimeEnvironment({ plugins: [ownWarnings] });
    const found = await hre.hooks.runHandlerChain(
      "solidity",
      "getCompilationJobErrors",
      [{} as never, {} as never],
      () => Promise.resolve(errors),
    );
    expect(found).to.deep.equal(kept);
  });
});
