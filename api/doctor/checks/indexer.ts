import { storedBlock } from "../../store/ledger/blocks.ts";
import { readMeta } from "../../store/db/meta.ts";
import { type Check, duration, ok, problem, warning } from "../check.ts";

/** How far behind the head, in milliseconds of chain time, is worth a word. */
const BEHIND = 120_000;

/** What is stored is the node's chain, up to its head. */
export const indexer: Check = {
  name: "indexer",
  asksChain: true,
  run: async ({ client, database }) => {
    // The head first: the checkpoint may only grow meanwhile.
    const head = await client.latestBlock();
    const checkpoint = Number(await readMeta(database.read, "checkpoint"));
    const stored = await storedBlock(database.read, checkpoint);
    const [block] = checkpoint <= head.number ? await client.blocks([checkpoint]) : [null];
    if (stored !== undefined && block != null && block.hash !== stored.hash) {
      return [
        warning(
          `Block ${checkpoint.toString()} is another one on the node than in the database: the chain was reorganised. A ` +
            `running service (role indexer) rolls back by itself.`,
        ),
      ];
    }
    const lag = head.number - checkpoint;
    if (lag < -1) {
      return [
        warning(
          `The node is ${(-lag).toString()} blocks behind the database. Wait until it is in sync, or use another.`,
        ),
      ];
    }
    if (lag <= 0) return [ok(`the chain is stored up to block ${checkpoint.toString()}, the head`)];
    const behind = block == null ? null : (head.timestamp - block.timestamp) * 1_000;
    const words = `the chain is stored up to block ${checkpoint.toString()}, ${lag.toString()} blocks behind the head`;
    if (behind === null) return [problem(`${words}, and the node does not have that block. Is it in sync?`)];
    if (behind <= BEHIND) return [ok(words)];
    return [warning(`${words} (${duration(behind)}). Is a process with the role indexer running?`)];
  },
};
