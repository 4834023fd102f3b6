import { NodeProcess, type NodeRules } from "../../scripts/scene/node.ts";

/** A real node in a separate process. */
export type TestNode = Pick<NodeProcess, "url" | "provider" | "stop">;

/** A Hardhat node. @param at port; a free one when absent. */
export function startNode(rules?: NodeRules, at?: number): Promise<TestNode> {
  return NodeProcess.hardhat(rules, at);
}

/** The first of Anvil's accounts, known to everybody: only for test chains. */
export const ANVIL_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** Anvil, a second and independent implementation of a node, with blocks once a second. */
export function startAnvil(chainId: number, options: string[] = []): Promise<TestNode> {
  return NodeProcess.anvil(["--block-time", "1", ...options], { chainId });
}
