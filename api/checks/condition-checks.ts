import { formatEther, formatUnits } from "ethers";

import {
  ageOf,
  BACKLOG_SLOW,
  type Condition,
  FUNDS_FOR_BATCHES,
  LANE_STUCK,
  type ParkedKind,
} from "../domain/conditions.ts";
import { plural } from "../shared/text.ts";
import { firstParked } from "../store/db/parked-rows.ts";
import { countFollowed, type PipelineState } from "../store/doctor/pipeline.ts";
import { type Check, type DoctorContext, duration, type Finding, ok, problem, some, warning } from "./check.ts";
import type { NodesState } from "../chain/nodes.ts";
import type { ChainState } from "./state.ts";

/** What the service watches all the time. Each part is read once for all checks. */
export interface ConditionState {
  database: PipelineState;
  chain: ChainState;
  nodes: NodesState;
}

/** A check of what the service watches all the time: `/metrics` shows its conditions, `doctor` its findings. */
interface ConditionCheck extends Check {
  /** Its conditions, and whether each holds. A condition is missing while that is not known. */
  conditions(state: { [P in keyof ConditionState]: ConditionState[P] | null }, now: number): [Condition, boolean][];
}

function conditionCheck<P extends keyof ConditionState>(
  name: string,
  part: P,
  conditions: Partial<Record<Condition, (state: ConditionState[P], now: number) => boolean | null>>,
  judge: (state: ConditionState[P], context: DoctorContext) => Finding | Finding[] | Promise<Finding[]>,
): ConditionCheck {
  return {
    name,
    asksChain: part === "chain",
    run: async (context) => judge(await context.state[part](), context),
    conditions: ({ [part]: state }, now) =>
      Object.entries(conditions).flatMap(([condition, holds]) => {
        const held = state === null ? null : holds(state, now);
        return held === null ? [] : [[condition as Condition, held] satisfies [Condition, boolean]];
      }),
  };
}

/** Each of several nodes works, serves the chain and is not behind. */
export const nodes = conditionCheck(
  "nodes",
  "nodes",
  {
    node_down: ({ states }) => states.some(({ word }) => word !== "up"),
    nodes_disagree: ({ disagreement }) => disagreement !== null,
  },
  ({ states }) => {
    if (states.length === 0) return ok("one node is set, in RPC_URL");
    return states.map(({ number, host, word, head, problem: why }) => {
      const name = `node ${number.toString()} (${host})`;
      if (word === "up") return ok(`${name} works and is at block ${head?.toString() ?? "?"}`);
      return warning(
        `${why ?? `${name} is not used`}. The other nodes do its work. Repair it, or remove it from RPC_URLS.`,
        word === "disagrees" ? "nodes_disagree" : "node_down",
      );
    });
  },
);

/** The relay works. */
export const relay = conditionCheck(
  "lanes",
  "chain",
  { relay_paused: ({ relayPaused }) => relayPaused },
  ({ relayPaused }, { client, chain }) => {
    if (relayPaused === null)
      return problem(
        `No relay answers at ${chain.contracts.relay}. Check that ${client.nodes.where} is a node of the right chain and is in sync.`,
      );
    if (!relayPaused) return [];
    return problem("The relay is paused: nothing is sent. Have the relay's owner call unpause.", "relay_paused");
  },
);

/** Blocks contain what the lanes sent. */
export const mined = conditionCheck(
  "lanes",
  "database",
  { lane_stuck: ({ lanes }, now) => lanes.some(({ oldestUnmined }) => ageOf(oldestUnmined, now) > LANE_STUCK) },
  ({ lanes }, { now }) =>
    lanes.map(({ lane, address, unmined, oldestUnmined }) => {
      const words = `lane ${lane.toString()} (${address}) has ${plural(unmined, "unmined batch", "unmined batches")}`;
      const age = ageOf(oldestUnmined, now);
      if (age <= LANE_STUCK) return ok(words);
      return warning(
        `${words}, the oldest for ${duration(age)}. Check that a process with the role relayer runs, that MAX_FEE_GWEI is not ` +
          "below the present fees, and that the node broadcasts transactions. Its log says when the node refuses them.",
        "lane_stuck",
      );
    }),
);

/** The chain's fees are not above what the operator accepts. */
export const fees = conditionCheck("fees", "chain", {}, ({ gasPrice, feesTooHigh }, { settings }) => {
  const words = `costs ${formatUnits(gasPrice, "gwei")} gwei, and MAX_FEE_GWEI allows ${settings.maxFeeGwei.toString()}`;
  return feesTooHigh
    ? problem(`Gas ${words}: nothing is sent. Wait for lower fees, or raise MAX_FEE_GWEI.`)
    : ok(`gas ${words}`);
});

/** Lanes can pay for the next batches. */
export const funds = conditionCheck(
  "funds",
  "chain",
  { low_funds: ({ balances }) => balances.some(({ low }) => low) },
  ({ balances, batchCost }) => {
    const advice = `Send it ${formatEther(batchCost * FUNDS_FOR_BATCHES)} ether or more.`;
    return balances
      .filter(({ inUse }) => inUse)
      .map(({ lane, address, wei, low }) => {
        const name = `lane ${lane.toString()} (${address})`;
        const has = `has ${formatEther(wei)} ether`;
        if (!low) return ok(`${name} ${has}`);
        if (wei === 0n) return problem(`${name} has no funds and cannot send. ${advice}`, "low_funds");
        const [cost, enough] = [formatEther(batchCost), plural(Number(wei / batchCost), "transaction")];
        return wei < batchCost
          ? problem(
              `${name} ${has}, but a transaction like the recent ones may cost ${cost} ether now. ${advice}`,
              "low_funds",
            )
          : warning(
              `${name} is low on funds: it ${has}, enough for ${enough} like the recent ones. ${advice}`,
              "low_funds",
            );
      });
  },
);

/** In milliseconds. */
const STUCK = 3_600_000;

/** No accepted request waits longer than some minutes to be sent. */
export const backlog = conditionCheck(
  "backlog",
  "database",
  { backlog_growing: ({ oldestUnsent }, now) => ageOf(oldestUnsent, now) > BACKLOG_SLOW },
  ({ backlog: { pending }, oldestUnsent }, { now }) => {
    if (oldestUnsent === null) return ok("no request is waiting to be sent");
    const age = ageOf(oldestUnsent, now);
    const words = `${plural(pending, "request is", "requests are")} waiting to be sent, the oldest for ${duration(age)}`;
    if (age <= BACKLOG_SLOW) return ok(words);
    const advice = "Check that a process with the role relayer runs. Its log shows the cause.";
    return (age > STUCK ? problem : warning)(`${words}. ${advice}`, "backlog_growing");
  },
);

/** A delivery that is due for longer is overdue: a running dispatcher is much faster. In milliseconds. */
const DELIVERY_OVERDUE = 300_000;

/** Due webhook deliveries are being sent. */
export const outbox = conditionCheck("outbox", "database", {}, ({ overdueSince }, { now }) => {
  const age = ageOf(overdueSince, now);
  if (age <= DELIVERY_OVERDUE) return ok("webhook deliveries that are due are sent");
  return warning(
    `Webhook deliveries are overdue and not being sent, the oldest for ${duration(age)}. Check that a process with the role ` +
      "webhooks runs.",
  );
});

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
    advice: `${AGAIN} The indexer stops at a block that needs a request which cannot be read. If the reason is a gas limit that is right, end the request with \`request fail\`. If its command cannot be read, \`request repair <id>\` makes it again.`,
  },
  media_job: { finding: problem, words: "Requests whose media cannot be copied", advice: AGAIN },
  delivery: {
    finding: problem,
    words: "Webhook deliveries that cannot be sent or recorded",
    advice: `${AGAIN} The receiver may get the event several times, with the same id.`,
  },
  metadata: {
    finding: problem,
    words: "Minted tokens whose metadata could not be stored",
    advice:
      "The metadata is kept with the request. Upgrade, or correct the cause in the log, then run `reconcile`: it stores it.",
  },
  block: {
    finding: problem,
    words: "Blocks that the database refuses: the indexer has stopped there",
    advice: "Nothing is lost. Upgrade, or correct the cause: the indexer then goes on by itself.",
  },
  old_row: { finding: warning, words: "Old rows that cannot be removed: nothing of their kind is", advice: AGAIN },
};

/** No row of the database makes its worker fail. */
export const parked = conditionCheck(
  "parked",
  "database",
  { row_parked: (state) => Object.values(state.parked).some((count) => count > 0) },
  async (_, { database, now }) => {
    const rows = Map.groupBy(await firstParked(database.read, MOST), ({ kind }) => kind);
    const findings = Array.from(rows, ([kind, [first, ...others]]) => {
      if (first === undefined) return [];
      const { finding, words, advice } = KINDS[kind];
      const names = some([first, ...others].map(({ id }) => id));
      const since = duration(now - first.since);
      return finding(`${words}: ${names}. The first has failed for ${since}: ${first.reason}. ${advice}`, "row_parked");
    }).flat();
    return findings.length > 0 ? findings : [ok("no row is parked")];
  },
);

/** Reads of wallets that may wait before a warning. */
const WAITING = 1_000;

const QUARANTINED = {
  flood: [
    "they report too many moves of tokens",
    "If you trust such a contract, set MAX_FOREIGN_LOGS higher; otherwise run",
  ],
  failing: ["calls that read them use too much gas or answer too many bytes", "If no app needs such a contract, run"],
} as const;

/** Contracts that others deployed and apps follow answer, and are read. */
export const followed = conditionCheck(
  "followed",
  "database",
  { contract_quarantined: ({ quarantined }) => quarantined.length > 0 },
  async ({ quarantined }, { database, now }) => {
    const findings: Finding[] = [];
    for (const [reason, [cause, advice]] of Object.entries(QUARANTINED)) {
      const names = quarantined
        .filter((contract) => contract.reason === reason)
        .map(({ address, until }) => `${address} (for ${duration(until - now)} more)`);
      if (names.length === 0) continue;
      const words =
        `Quarantined because ${cause}: ${some(names)}. They are tried again by themselves. ${advice} ` +
        "`contract unfollow`.";
      findings.push(warning(words, "contract_quarantined"));
    }
    const { followed: count, waiting } = await countFollowed(database.read);
    if (waiting > WAITING)
      findings.push(
        warning(
          `${plural(waiting, "wallet")} wait for the background reads of followed contracts. Check that a process with ` +
            "the role indexer runs. It reads some wallets of each app every minute.",
        ),
      );
    return findings.length > 0 ? findings : [ok(`${plural(count, "contract")} of others followed, none in quarantine`)];
  },
);

/** Mints into adopted contracts do what they should. */
export const minting = conditionCheck(
  "minting",
  "database",
  { minting_stopped: ({ mintingStopped }) => mintingStopped.length > 0 },
  ({ mintingStopped }) =>
    mintingStopped.length === 0
      ? ok("minting into adopted contracts is not stopped")
      : mintingStopped.map(({ contract, reason }) =>
          warning(
            `Nothing is minted into ${contract}: ${reason} If all is well, run \`collection minting ${contract}\`.`,
            "minting_stopped",
          ),
        ),
);

/** Which conditions hold. Those that cannot be known now are missing. */
export function conditionsNow(...now: Parameters<ConditionCheck["conditions"]>): [Condition, boolean][] {
  return [nodes, relay, mined, funds, backlog, parked, followed, minting].flatMap((check) => check.conditions(...now));
}
