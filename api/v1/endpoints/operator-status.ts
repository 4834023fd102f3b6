import { ApiError } from "../../domain/error-codes.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { statusExample } from "../examples/operator.ts";
import type { LaneOfService } from "../operator-reads.ts";
import { operatorStatus as response } from "../schemas/operator-state.ts";
import { none, noQuery } from "../schemas/params.ts";

export function operatorStatus() {
  return defineServiceEndpoint({
    method: "get",
    path: "/operator/status",
    summary: "Show the state of the whole service",
    name: "getOperatorStatus",
    description:
      "Backlog, indexer, webhook deliveries, and the lanes with their balances. What cannot be read now, such as balances while the node does not answer, is null. Results are up to some seconds old, what lanes spent up to a minute.",
    examples: { answer: statusExample },
    scope: "read",
    caller: "operator",
    params: none,
    query: noQuery,
    response,
    handle: async (deps) => {
      const [state, { ready, details }] = await Promise.all([deps.operator.overview(), deps.readiness()]);
      if (state === null) {
        throw new ApiError("unavailable", null, { retryAfter: 5, message: "The database cannot be read. Try again." });
      }
      const now = Date.now();
      const { checkpoint, head } = state;
      return {
        ready,
        checks: details,
        backlog: state.backlog,
        oldest_pending_seconds: ageOf(state.oldestUnsent, now),
        indexer: { checkpoint, head, lag_blocks: head === null ? null : Math.max(0, head - checkpoint) },
        deliveries: { ...state.deliveries, oldest_overdue_seconds: ageOf(state.overdueSince, now) },
        lanes: state.lanes.map((lane) => presentLane(lane, now)),
        relay_paused: state.relayPaused,
        quarantined_contracts: state.quarantined,
        processes: state.processes,
      };
    },
  });
}

function presentLane(lane: LaneOfService, now: number) {
  return {
    lane: lane.lane,
    address: lane.address,
    in_use: lane.inUse,
    balance_wei: lane.balance?.toString() ?? null,
    spent_24h_wei: lane.spent?.toString() ?? null,
    days_left: lane.daysLeft,
    low_funds: lane.lowFunds,
    oldest_unmined_seconds: ageOf(lane.oldestUnmined, now),
  };
}

/** In seconds. @param since milliseconds since 1970; null: there is nothing. */
function ageOf(since: number | null, now: number): number | null {
  return since === null ? null : Math.max(0, (now - since) / 1_000);
}
