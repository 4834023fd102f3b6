import { type Check, ok, problem } from "../check.ts";

/** The node serves the chain that the database belongs to. */
export const chain: Check = {
  name: "chain",
  asksChain: true,
  run: async ({ client, chain: known }) => {
    const advice = "Set RPC_URL to a node of the database's chain, or DATABASE_URL to the database of this one.";
    const chainId = (await client.chainId()).toString();
    if (chainId !== known.chainId) {
      return [problem(`The database belongs to chain ${known.chainId}, the node serves chain ${chainId}. ${advice}`)];
    }
    const [genesis] = await client.blocks([0]);
    if (genesis?.hash !== known.genesis) {
      return [
        problem(`The node serves another chain with the id ${chainId}: its block 0 is a different one. ${advice}`),
      ];
    }
    return [ok(`chain ${chainId}, the one that the database belongs to`)];
  },
};
