import { JsonRpcProvider, Network } from "ethers";

import { freePort } from "../../scripts/nodes/free-port.ts";
import { type NodeRules, rulesEnvironment } from "../../scripts/nodes/node-rules.ts";
import { TestProcess } from "./process.ts";

/** A real Hardhat node in a separate process. */
export interface TestNode {
  url: string;
  provider: JsonRpcProvider;
  stop(): Promise<void>;
}

/** @param at port; a free one when absent. */
export async function startNode(rules: NodeRules = {}, at?: number): Promise<TestNode> {
  const port = at ?? (await freePort());
  const process = new TestProcess(
    ["node_modules/hardhat/dist/src/cli.js", "node", "--hostname", "127.0.0.1", "--port", port.toString()],
    { HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", ...rulesEnvironment(rules) },
  );
  await process.printed(/Started HTTP and WebSocket JSON-RPC server/).catch(async (error: unknown) => {
    // Nobody else knows the process. It would keep Mocha running.
    await process.end("SIGKILL");
    throw error;
  });
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
