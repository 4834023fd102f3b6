import { anvilBinary } from "../../nodes/anvil-binary.ts";
import { Miner } from "../../nodes/miner.ts";
import { NodeProcess } from "../../nodes/node-process.ts";
import { PacedAnvil } from "../chain/paced-anvil.ts";
import type { BenchNode } from "../harness/world.ts";

/** The faster of the two nodes, where there is a package for it. */
export const NODE = anvilBinary() === null ? "hardhat" : "anvil";

/**
 * Starts it. The Anvil of the tests keeps the state of every block, which is gigabytes after so many transactions; this one does
 * not. Its blocks have 60 M gas and come as soon as there are transactions.
 */
export async function startNode(folder: string): Promise<BenchNode> {
  if (NODE === "hardhat") return NodeProcess.start("hardhat", folder);
  const anvil = await PacedAnvil.start();
  const { url, provider, pid } = anvil;
  await provider.send("evm_setAutomine", [false]);
  const miner = await Miner.start(provider);
  return {
    url,
    provider,
    pid,
    stop: async () => {
      await miner.stop();
      await anvil.stop();
    },
  };
}
