// Loaded before a program: it then runs as if the optional packages of the IPFS node were not installed, and prints a line
// when one of them is imported.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    if (!/^(libp2p|@libp2p\/.*|@helia\/.*|@multiformats\/multiaddr)$/.test(specifier)) return next(specifier, context);
    console.error(`imported the package ${specifier}`);
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
