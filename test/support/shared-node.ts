import { atEndOfRun } from "./end-of-run.ts";
import { startNode, type TestNode } from "./node.ts";

/* One Hardhat node for all test files of a Mocha run: a start takes seconds, a return to the first block milliseconds. */

let starting: Promise<{ node: TestNode; snapshot: unknown }> | null = null;
let isBorrowed = false;

/**
 * Borrows the shared node with an empty chain. `stop` returns it.
 * @throws when an earlier borrower has not returned it.
 */
export async function borrowNode(): Promise<TestNode> {
  if (isBorrowed) throw new Error('The shared node is in use. Start a second node with `node: "own"`.');
  isBorrowed = true;
  try {
    starting ??= startNode().then(async (node) => {
      atEndOfRun(async () => {
        starting = null;
        await node.stop();
      });
      const snapshot: unknown = await node.provider.send("evm_snapshot", []);
      return { node, snapshot };
    });
    const { node } = await starting;
    return { ...node, stop: giveBack };
  } catch (error) {
    isBorrowed = false;
    throw error;
  }
}

/** Resets the chain to its first block. A node that cannot do that is replaced. */
async function giveBack(): Promise<void> {
  if (starting === null) return;
  const shared = await starting;
  const { provider } = shared.node;
  isBorrowed = false;
  try {
    await provider.send("evm_setAutomine", [true]);
    if ((await provider.send("evm_revert", [shared.snapshot])) !== true) throw new Error("the snapshot is gone");
    // A snapshot can be used once.
    shared.snapshot = await provider.send("evm_snapshot", []);
    await catchUpWithClock(shared.node);
  } catch (error) {
    starting = null;
    await shared.node.stop();
    throw error;
  }
}

/** Reverting to a snapshot also resets Hardhat's clock. Sets it to the current time again. */
async function catchUpWithClock({ provider }: TestNode): Promise<void> {
  const head = (await provider.send("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
  const now = Math.floor(Date.now() / 1000);
  if (now > Number(head.timestamp)) await provider.send("evm_setNextBlockTimestamp", [now]);
}
