import {
  acceptGroup,
  type AcceptLimits,
  type CallDecision,
  type Candidate,
  type CandidateCall,
  type Decision,
} from "../../../api/commands/accept-group.ts";
import type { Trx } from "../../../api/store/db/sql.ts";

/** Single calls, one for each item. */
export function callsOf(items: readonly Candidate[]): CandidateCall[] {
  return items.map((item) => ({ appId: item.appId, credential: null, items: [item], key: null, answer: () => "{}" }));
}

type Outcome = Decision | Exclude<CallDecision, { kind: "decided" }>;

/** Decides single calls in one group. */
export async function acceptEach(
  trx: Trx,
  items: readonly Candidate[],
  limits: AcceptLimits,
  now: number,
): Promise<Outcome[]> {
  const decisions = await acceptGroup(trx, callsOf(items), limits, now);
  return decisions.flatMap((decision): Outcome[] => (decision.kind === "decided" ? [...decision.items] : [decision]));
}
