import { type Check, ok, problem } from "../check.ts";

/** The node serves the chain that the database belongs to. */
export const chain: Check = {
  name: "chain",
  asksChain: true,
  run: async ({ client, chain: known }) => {
    const advice =
      "Set RPC_URL to a node of the database's chain, or set DATABASE_URL to the database of the node's chain.";
    const chainId = (await client.chainId()).toString();
    if (chainId !== known.chainId) {
      return [
        problem(`The database belongs to chain ${known.chainId}, but the node serves chain ${chainId}. ${advice}`),
      ];
    }
    const [genesis] = await client.blocks([0]);
    if (genesis?.hash !== known.genesis) {
      return [problem(`The node serves another chain with the same id ${chainId}: block 0 differs. ${advice}`)];
    }
    return [ok(`the node serves chain ${chainId}, like the database`)];
  },
};
