import { storedBlock } from "../../store/ledger/blocks.ts";
import { readMeta } from "../../store/db/meta.ts";
import { type Check, duration, ok, problem, warning } from "../check.ts";
import { plural } from "../../shared/plural.ts";

/** The indexer may be this far behind the head before a warning. In milliseconds of chain time. */
const BEHIND = 120_000;

/** The database holds the node's chain, up to its head. */
export const indexer: Check = {
  name: "indexer",
  asksChain: true,
  run: async ({ client, database }) => {
    // Read the head first: the checkpoint can only grow meanwhile.
    const head = await client.latestBlock();
    const checkpoint = Number(await readMeta(database.read, "checkpoint"));
    const stored = await storedBlock(database.read, checkpoint);
    const [block] = checkpoint <= head.number ? await client.blocks([checkpoint]) : [null];
    if (stored !== undefined && block != null && block.hash !== stored.hash) {
      return [
        warning(
          `Block ${checkpoint.toString()} of the node differs from the stored one, after a reorg. Start a process with the role ` +
            `indexer if none runs: it rolls the database back and reads the new blocks.`,
        ),
      ];
    }
    const lag = head.number - checkpoint;
    if (lag < -1) {
      return [
        warning(
          `The node is ${plural(-lag, "block")} behind the database. Wait until it is in sync, or set RPC_URL to another node.`,
        ),
      ];
    }
    if (lag <= 0) return [ok(`the database is at block ${checkpoint.toString()}, the head of the chain`)];
    const behind = block == null ? null : (head.timestamp - block.timestamp) * 1_000;
    const words = `the database is at block ${checkpoint.toString()}, ${plural(lag, "block")} behind the head`;
    if (behind === null)
      return [problem(`${words}, and the node does not have that block. Check that the node is in sync.`)];
    if (behind <= BEHIND) return [ok(words)];
    return [warning(`${words} (${duration(behind)}). Check that a process with the role indexer runs.`)];
  },
};
