import { existsSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "./process.ts";

/** Whether the packages of the IPFS node are installed. Otherwise tests that need them are skipped. */
export function ipfsPackagesAreInstalled(): boolean {
  return existsSync(join(ROOT, "node_modules", "libp2p", "package.json"));
}
