import { ChainClient } from "../chain/client.ts";
import { Nodes } from "../chain/nodes.ts";
import { RpcProvider } from "../chain/rpc-provider.ts";
import type { Settings } from "../config/settings.ts";
import { COMMAND_WAIT, firstNode } from "../context/chain-link.ts";

/** Runs a command on the chain of the settings. */
export async function withNode<T>(settings: Settings, work: (provider: RpcProvider) => Promise<T>): Promise<T> {
  const client = new ChainClient(new Nodes([await firstNode(settings)], { maxWait: COMMAND_WAIT }));
  const provider = new RpcProvider(client, await client.chainId());
  try {
    return await work(provider);
  } finally {
    provider.destroy();
  }
}
