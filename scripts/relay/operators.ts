import type { Relay } from "../../contracts/generated/Relay.ts";

/** The largest range of blocks that is asked for. */
const WIDEST = 1_000_000;

/**
 * All operators of the relay now, found by its events: the contract has no list of them.
 * @param since block of the relay's deployment, or an earlier one.
 * @throws Error of the provider, when it does not even answer for a single block.
 */
export async function currentOperators(relay: Relay, since: number): Promise<string[]> {
  const head = (await relay.runner?.provider?.getBlockNumber()) ?? 0;
  const operators = new Set<string>();
  let width = WIDEST;
  for (let from = since; from <= head;) {
    const to = Math.min(head, from + width - 1);
    try {
      for (const { args } of await relay.queryFilter(relay.filters.OperatorSet(), from, to)) {
        if (args.allowed) operators.add(args.operator);
        else operators.delete(args.operator);
      }
      from = to + 1;
      width = Math.min(width * 2, WIDEST);
    } catch (error) {
      // Each provider has its own limit. A range of one block that fails has another cause.
      if (width === 1) throw error;
      width = Math.ceil(width / 4);
    }
  }
  return [...operators];
}
