import { ChainClient } from "../chain/client.ts";
import { ChainGuard } from "../chain/chain-guard.ts";
import { Rpc } from "../chain/rpc.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";

/**
 * From now on, the answers to these connections count only while the node serves the chain that the database belongs to.
 * @param opened ends the checks.
 */
export async function guardChain(
  rpcUrl: string,
  database: Database,
  connections: readonly Rpc[],
  opened: AsyncDisposableStack,
): Promise<ChainGuard> {
  const [chainId, genesis] = [await readMeta(database.read, "chain_id"), await readMeta(database.read, "genesis")];
  if (chainId === null || genesis === null) throw new Error("the database is not bound to a chain");
  const client = new ChainClient(new Rpc(rpcUrl));
  const guard = new ChainGuard(rpcUrl, { chainId: BigInt(chainId), genesis }, async () => {
    const met = await client.chainId();
    const [block] = await client.blocks([0]);
    return block == null ? null : { chainId: met, genesis: block.hash };
  });
  guard.start();
  opened.defer(() => {
    guard.stop();
  });
  for (const rpc of connections) rpc.guardBy(guard);
  return guard;
}
