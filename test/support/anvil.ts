import { NodeProcess } from "../../scripts/scene/node.ts";
import type { TestNode } from "./node.ts";

/** The first of Anvil's accounts, known to everybody: only for test chains. */
export const ANVIL_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** Anvil, a second and independent implementation of a node, with blocks once a second. */
export function startAnvil(chainId: number, options: string[] = []): Promise<TestNode> {
  return NodeProcess.anvil(["--block-time", "1", ...options], { chainId });
}
