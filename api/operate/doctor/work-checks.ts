import { BACKLOG_SLOW, type ParkedKind } from "../../domain/conditions.ts";
import { plural } from "../../shared/text.ts";
import { readMeta } from "../../store/db/meta.ts";
import { contractHealth, newestVerifications, unsentRequests, waitingDeliveries } from "../../store/doctor/pipeline.ts";
import { firstParked } from "../../store/db/parked-rows.ts";
import { correctedSince, lostEffects } from "../../store/doctor/effects.ts";
import { storedBlock } from "../../store/ledger/blocks.ts";
import { waitingPins } from "../../store/media/pins.ts";
import { type Check, duration, type Finding, ok, problem, some, warning } from "./check.ts";

/** Rows that are named. If there are more, the cause is hardly in the rows. */
const MOST = 1_000;

const AGAIN =
  "It is tried again by itself, also after an upgrade, unless the process died at it: then `parked retry` tries it again. " +
  "The log has the error with its stack (condition row_parked): report it.";

/** What is parked, what it means, and what to do. A problem when an app waits for the row. */
const KINDS: Readonly<Record<ParkedKind, { finding: typeof problem; words: string; advice: string }>> = {
  request: {
    finding: problem,
    words: "Requests that cannot be sent or settled",
    advice: `${AGAIN} If the reason is a gas limit that is right, end the request with \`request fail\`. If its command cannot be read, \`request repair <id>\` makes it again.`,
  },
  media_job: { finding: problem, words: "Requests whose media cannot be copied", advice: AGAIN },
  delivery: {
    finding: problem,
    words: "Webhook deliveries that cannot be sent or recorded",
    advice: `${AGAIN} The receiver may get the event several times, with the same id.`,
  },
  pin: { finding: warning, words: "Content that cannot be pinned or unpinned at the IPFS node", advice: AGAIN },
  announcement: { finding: warning, words: "Content that cannot be announced on the IPFS network", advice: AGAIN },
  metadata: {
    finding: problem,
    words: "Minted tokens whose metadata could not be stored",
    advice:
      "The metadata is kept with the request. Upgrade, or correct the cause in the log, then run `reconcile`: it stores it.",
  },
  old_row: { finding: warning, words: "Old rows that cannot be deleted", advice: AGAIN },
  verification: { finding: warning, words: "Collections whose verification cannot be recorded", advice: AGAIN },
  contract_read: { finding: warning, words: "Followed contracts that cannot be asked", advice: AGAIN },
};

/** The logs of blocks are proven by their receipts. */
export const receipts: Check = {
  name: "receipts",
  asksChain: false,
  run: async ({ database, verifyReceipts }) => {
    if (verifyReceipts === "false")
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

/** No row of the database makes its worker fail. */
export const parked: Check = {
  name: "parked",
  asksChain: false,
  run: async ({ database, now }) => {
    const rows = await firstParked(database.read, MOST);
    const findings: Finding[] = [];
    for (const [kind, found] of Map.groupBy(rows, (row) => row.kind)) {
      const { finding, words, advice } = KINDS[kind];
      const [oldest] = found;
      if (oldest === undefined) continue;
      const names = some(found.map(({ id }) => id));
      const since = duration(now - oldest.since);
      findings.push(
        finding(`${words}: ${names}. The first has failed for ${since}: ${oldest.reason}. ${advice}`, "row_parked"),
      );
    }
    return findings.length > 0 ? findings : [ok("no row is parked")];
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

/** In milliseconds. */
const STUCK = 3_600_000;

/** No accepted request waits longer than some minutes to be sent. */
export const backlog: Check = {
  name: "backlog",
  asksChain: false,
  run: async ({ database, now }) => {
    const { count: waiting, oldest } = await unsentRequests(database.read);
    if (oldest === null) return ok("no request is waiting to be sent");
    const words = `${plural(waiting, "request is", "requests are")} waiting to be sent, the oldest for ${duration(now - oldest)}`;
    const advice = "Check that a process with the role relayer runs. Its log shows the cause.";
    if (now - oldest > STUCK) return problem(`${words}. ${advice}`, "backlog_growing");
    return now - oldest > BACKLOG_SLOW ? warning(`${words}. ${advice}`, "backlog_growing") : ok(words);
  },
};

/** A delivery that is due for longer is overdue: a running dispatcher is much faster. In milliseconds. */
const DELIVERY_OVERDUE = 300_000;

/** Due webhook deliveries are being sent. */
export const outbox: Check = {
  name: "outbox",
  asksChain: false,
  run: async ({ database, now }) => {
    const { count: waiting, oldest, overdue } = await waitingDeliveries(database.read, now - DELIVERY_OVERDUE);
    if (overdue > 0) {
      return warning(
        `${plural(overdue, "webhook delivery is", "webhook deliveries are")} overdue and not being sent. Check that a process with ` +
          `the role webhooks runs.`,
      );
    }
    if (oldest === null) return ok("all webhook deliveries are done");
    return ok(
      `${plural(waiting, "webhook delivery is", "webhook deliveries are")} waiting for the next try, the oldest for ${duration(now - oldest)}`,
    );
  },
};

/** A pin that waits longer is overdue: a running media worker is much faster. In milliseconds. */
const PIN_OVERDUE = 300_000;

/** The operator's IPFS node also pins the hosted files. */
export const pins: Check = {
  name: "pins",
  asksChain: false,
  run: async ({ database, pinRpc, now }) => {
    if (pinRpc === null) return ok("no IPFS node is set (IPFS_PIN_RPC), so nothing is pinned there");
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

/** The newest tries to verify a collection that are looked at. */
const NEWEST_TRIES = 10;

/** The verifier of VERIFY_COLLECTIONS has the sources of the collections' contracts. */
export const verified: Check = {
  name: "verified",
  asksChain: false,
  run: async ({ database, verifyCollections }) => {
    if (verifyCollections === "off") return ok("collections are not verified (VERIFY_COLLECTIONS)");
    const newest = await newestVerifications(database.read, NEWEST_TRIES);
    const [last] = newest;
    if (last === undefined) return ok("no collection had to be verified");
    if (last.error === null || newest.some(({ error }) => error === null))
      return ok(`the verifier (${verifyCollections}) has the sources of collections`);
    return warning(
      `The last ${newest.length === 1 ? "try" : `${newest.length.toString()} tries`} to verify a collection failed, the newest for ${last.address}: ${last.error}. ` +
        "Check VERIFY_COLLECTIONS, and that `deploy --verify` has published the sources of the contracts. Then run " +
        "`contract verify`: it tries again what has failed.",
    );
  },
};

/** Reads of wallets that may wait before a warning. */
const WAITING = 1_000;

/** Contracts that others deployed and apps follow answer, and are read. */
export const followed: Check = {
  name: "followed",
  asksChain: false,
  run: async ({ database, now }) => {
    const health = await contractHealth(database.read);
    const findings = [];
    for (const reason of ["flood", "failing"] as const) {
      const found = health.quarantined.filter((contract) => contract.reason === reason);
      if (found.length === 0) continue;
      const names = found.map(({ address, until }) => `${address} (for ${duration((until ?? now) - now)} more)`);
      findings.push(
        warning(
          reason === "flood"
            ? `Quarantined because they report too many moves of tokens: ${some(names)}. They are tried again by themselves. ` +
                "If you trust such a contract, set MAX_FOREIGN_LOGS higher; otherwise run `contract unfollow`."
            : `Quarantined because calls that read them use too much gas or answer too many bytes: ${some(names)}. They are ` +
                "tried again by themselves. If you trust such a contract, set FOREIGN_CALL_GAS higher; otherwise run `contract unfollow`.",
          "contract_quarantined",
        ),
      );
    }
    if (health.waiting > WAITING) {
      findings.push(
        warning(
          `${plural(health.waiting, "wallet")} wait for the background reads of followed contracts. Check that a process with ` +
            "the role indexer runs, or set CONTRACT_READS_PER_MINUTE higher.",
        ),
      );
    }
    if (findings.length > 0) return findings;
    return ok(`${plural(health.followed, "contract")} of others followed, none in quarantine`);
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
