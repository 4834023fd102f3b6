import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * Anvil's program, from the optional package of this platform. The registry has it for Linux on x64; elsewhere there is
 * none, and what needs a second kind of node is left out.
 */
export function anvilBinary(): string | null {
  const require = createRequire(import.meta.url);
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  try {
    const manifest = require.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`);
    return join(dirname(manifest), "bin", "anvil");
  } catch {
    return null;
  }
}

/** @throws where Anvil is not installed. */
export function requireAnvil(): string {
  const binary = anvilBinary();
  if (binary === null) throw new Error("Anvil is not packaged for this platform: use a Hardhat node.");
  return binary;
}
