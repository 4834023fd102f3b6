import { JsonRpcProvider, Network } from "ethers";

import { requireAnvil } from "../../scripts/nodes/anvil-binary.ts";
import { freePort } from "../../scripts/nodes/free-port.ts";
import type { TestNode } from "./node.ts";
import { TestProcess } from "./process.ts";

/** The first of Anvil's accounts, known to everybody: only for test chains. */
export const ANVIL_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** Anvil, a second and independent implementation of a node, with blocks once a second. */
export async function startAnvil(chainId: number, options: string[] = []): Promise<TestNode> {
  const port = await freePort();
  const process = new TestProcess(
    ["--port", port.toString(), "--chain-id", chainId.toString(), "--block-time", "1", ...options],
    {},
    requireAnvil(),
  );
  await process.printed(/Listening on/);
  const url = `http://127.0.0.1:${port.toString()}`;
  const network = Network.from(chainId);
  const provider = new JsonRpcProvider(url, network, {
    staticNetwork: network,
    cacheTimeout: -1,
    batchMaxCount: 1,
    pollingInterval: 100,
  });
  return {
    url,
    provider,
    stop: async () => {
      provider.destroy();
      await process.end("SIGKILL");
    },
  };
}
