import { join } from "node:path";

import type { Logger } from "pino";

import type { IpfsNodeSettings } from "../config/ipfs-settings.ts";
import type { BlockStore } from "../ipfs/block-store.ts";
import type { IpfsNode } from "../ipfs-node/node.ts";
import { StartupError } from "./startup-error.ts";

/**
 * Starts the service's own IPFS node. Its packages are large, so they are loaded only here.
 * @throws StartupError
 */
export async function openIpfsNode(
  settings: { ipfsNode: IpfsNodeSettings; dataDir: string },
  deps: { blocks: BlockStore; logger: Logger },
): Promise<IpfsNode> {
  try {
    const { startIpfsNode } = await import("../ipfs-node/node.ts");
    return await startIpfsNode({
      ...settings.ipfsNode,
      ...deps,
      identityFile: join(settings.dataDir, "ipfs-node.key"),
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new StartupError(describeFailure(error), { cause: error });
  }
}

function describeFailure(error: Error): string {
  if ("code" in error && error.code === "ERR_MODULE_NOT_FOUND") {
    return `IPFS_LISTEN is set, but the packages of the IPFS node are not installed: install the packages again as docs/install.md says, or unset IPFS_LISTEN. (${error.message})`;
  }
  if (error.name === "IdentityFileError") return error.message;
  return `The IPFS node cannot start: ${error.message}. Check that the addresses in IPFS_LISTEN are free.`;
}
