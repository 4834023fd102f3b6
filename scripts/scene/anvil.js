import { createRequire } from "node:module";
import { dirname, join } from "node:path";
/** Path of Anvil's program, from an optional package. The registry has the package for Linux on x64 only. */
export function anvilBinary() {
    const require = createRequire(import.meta.url);
    const architecture = process.arch === "x64" ? "amd64" : process.arch;
    try {
        const manifest = require.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`);
        return join(dirname(manifest), "bin", "anvil");
    }
    catch {
        return null;
    }
}
