import { NodeProcess, type NodeRules } from "../../scripts/scene/node.ts";

/** A real node in a separate process. */
export type TestNode = Pick<NodeProcess, "url" | "provider" | "stop">;

/** A Hardhat node. @param at port; a free one when absent. */
export function startNode(rules?: NodeRules, at?: number): Promise<TestNode> {
  return NodeProcess.hardhat(rules, at);
}
