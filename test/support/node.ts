import { JsonRpcProvider, Network } from "ethers";

import { freePort } from "../../scripts/nodes/free-port.ts";
import { TestProcess } from "./process.ts";

/** A real Hardhat node in a separate process. */
export interface TestNode {
  url: string;
  provider: JsonRpcProvider;
  stop(): Promise<void>;
}

export interface NodeRules {
  /** Name of the hard fork whose rules apply. Default: the newest stable one. */
  hardfork?: string;
  /** URL of a node whose chain this node continues. */
  forkUrl?: string;
}

export async function startNode({ hardfork, forkUrl }: NodeRules = {}): Promise<TestNode> {
  const port = await freePort();
  const process = new TestProcess(
    ["node_modules/hardhat/dist/src/cli.js", "node", "--hostname", "127.0.0.1", "--port", port.toString()],
    {
      HARDHAT_DISABLE_TELEMETRY_PROMPT: "true",
      ...(hardfork === undefined ? {} : { HARDFORK: hardfork }),
      ...(forkUrl === undefined ? {} : { FORK_URL: forkUrl }),
    },
  );
  await process.printed(/Started HTTP and WebSocket JSON-RPC server/);
  const url = `http://127.0.0.1:${port.toString()}`;
  const network = Network.from(31_337);
  const provider = new JsonRpcProvider(url, network, {
    staticNetwork: network,
    cacheTimeout: -1,
    batchMaxCount: 1,
    pollingInterval: 50,
  });
  let stopping: Promise<unknown> | null = null;
  return {
    url,
    provider,
    stop: async () => {
      // A test may stop the node before its fixture does.
      if (stopping === null) provider.destroy();
      await (stopping ??= process.end("SIGKILL"));
    },
  };
}
