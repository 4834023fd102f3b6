import { plural } from "../shared/text.ts";
import { readMeta } from "../store/db/meta.ts";
import { correctedSince, lostEffects } from "../store/doctor/effects.ts";
import { storedBlock } from "../store/ledger/blocks.ts";
import { waitingPins } from "../store/media/pins.ts";
import { type Check, duration, ok, problem, warning } from "./check.ts";

/** The logs of blocks are proven by their receipts. */
export const receipts: Check = {
  name: "receipts",
  asksChain: false,
  run: async ({ database, settings }) => {
    if (settings.verifyReceipts === "false")
      return ok("the logs of blocks are not compared with their receipts, because of VERIFY_RECEIPTS=false");
    const why = await readMeta(database.read, "receipts_unproven");
    if (why !== null)
      return warning(
        `Blocks cannot be proven by their receipts: ${why}. docs/operations.md, "Receipts as proof", says what to do.`,
        "receipts_unproven",
      );
    const first = await readMeta(database.read, "receipts_proven");
    return ok(
      first === null
        ? "no block with logs was read yet"
        : "the logs of blocks are proven by the receipts of the blocks",
    );
  },
};

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
      return warning(
        `Block ${checkpoint.toString()} of the node differs from the stored one, after a reorg. Start a process with the role ` +
          `indexer if none runs: it rolls the database back and reads the new blocks.`,
      );
    }
    const lag = head.number - checkpoint;
    if (lag < -1) {
      return warning(
        `The node is ${plural(-lag, "block")} behind the database. Wait until it is in sync, or set ${client.nodes.where} to another node.`,
      );
    }
    if (lag <= 0) return ok(`the database is at block ${checkpoint.toString()}, the head of the chain`);
    const behind = block == null ? null : (head.timestamp - block.timestamp) * 1_000;
    const words = `the database is at block ${checkpoint.toString()}, ${plural(lag, "block")} behind the head`;
    if (behind === null)
      return problem(`${words}, and the node does not have that block. Check that the node is in sync.`);
    if (behind <= BEHIND) return ok(words);
    return warning(`${words} (${duration(behind)}). Check that a process with the role indexer runs.`);
  },
};

/** A pin that waits longer is overdue: a running media worker is much faster. In milliseconds. */
const PIN_OVERDUE = 300_000;

/** The operator's IPFS node also pins the hosted files. */
export const pins: Check = {
  name: "pins",
  asksChain: false,
  run: async ({ database, settings, now }) => {
    if (settings.ipfsPinRpc === null) return ok("no IPFS node is set (IPFS_PIN_RPC), so nothing is pinned there");
    const { count: waiting, oldest, error } = await waitingPins(database.read);
    if (oldest === null) return ok("the IPFS node has pinned all hosted files");
    const age = duration(now - oldest);
    const words = `${plural(waiting, "file is", "files are")} waiting to be pinned or unpinned, the oldest for ${age}`;
    if (error !== null)
      return warning(`${words}. The node at IPFS_PIN_RPC answered: ${error}. Check that it runs and accepts pins.`);
    if (now - oldest > PIN_OVERDUE) return warning(`${words}. Check that a process with the role media runs.`);
    return ok(words);
  },
};

/** Requests named one by one. */
const NAMED = 5;
/** How long a corrected outcome stays a problem, in milliseconds. After that the apps have had time to react. */
const FRESH = 7 * 86_400_000;

/** Completed requests still have their effect on chain: the token exists, with the id that the app received. */
export const effects: Check = {
  name: "effects",
  asksChain: false,
  run: async ({ database, now }) => {
    const named: string[] = [];
    let lost = 0;
    for await (const page of lostEffects(database.read)) {
      lost += page.length;
      named.push(...page.slice(0, NAMED - named.length).map(({ id, words }) => `request ${id}: ${words}`));
    }
    const corrected = await correctedSince(database.read, now - FRESH);
    const changed = corrected.map((id) =>
      problem(
        `A reorg deeper than CONFIRMATIONS changed the outcome of the final request ${id} (event "corrected"). Set ` +
          `CONFIRMATIONS higher. This finding stays for 7 days.`,
      ),
    );
    if (changed.length > 0 && lost === 0) return changed.slice(0, NAMED);
    if (lost === 0) return ok("the results of all completed requests are still on chain");
    return problem(
      `A reorg deeper than CONFIRMATIONS undid ${plural(lost, "completed request")}. ${named.join("; ")}. Set ` +
        `CONFIRMATIONS higher, and tell the apps to repeat these requests if they still need the results.`,
    );
  },
};
