import type { Gather } from "../shared/gather.ts";
import type { Database } from "../store/db/database.ts";
import {
  acceptGroup,
  type AcceptLimits,
  type CallDecision,
  type CandidateCall,
  type Decision,
  type Prepare,
} from "./accept-group.ts";
import type { BacklogLimits } from "./backlog.ts";
import { gatherCalls } from "./gather-calls.ts";

/** Rounds of deciding a prepared call, after which an item that `prepare` refused is not decided again. */
const ROUNDS = 5;

/** Decides calls that arrive together, in one transaction. Create one per process and database. */
export class AcceptQueue {
  readonly #database: Database;
  readonly #limits: AcceptLimits;
  readonly #gather: Gather<CandidateCall, CallDecision>;
  /** The batches that were added before. */
  #batches: Promise<unknown> = Promise.resolve();

  constructor(database: Database, settings: { appGasPerDay: number | null; limits: BacklogLimits }) {
    this.#database = database;
    const { backlog, mediaBacklog } = settings.limits;
    this.#limits = { appGasPerDay: settings.appGasPerDay, backlog, mediaBacklog };
    this.#gather = gatherCalls(
      (group) => database.writeGroup((trx) => acceptGroup(trx, group, this.#limits, Date.now())),
      // A second turn: the calls that arrived in the first one have passed their look-ups then, and share the commit.
      (drain) => setImmediate(() => setImmediate(drain)),
    );
  }

  /**
   * @param prepare extra changes, made in the same transaction before the decision. Such a call is decided alone. What it
   * changed for an item that is refused is rolled back.
   * @throws the errors of `prepare` and of the database.
   */
  accept(call: CandidateCall, prepare?: Prepare): Promise<CallDecision> {
    if (call.items.length > 1) return this.#inTurn(() => this.#decideAlone(call, prepare));
    return prepare === undefined ? this.#gather.add(call) : this.#prepared(call, prepare);
  }

  /** Batches are decided one by one, so that other calls are decided in between. */
  #inTurn(decide: () => Promise<CallDecision>): Promise<CallDecision> {
    // Whether or not the batch before it failed.
    const decision = this.#batches.then(decide, decide);
    this.#batches = decision;
    return decision;
  }

  #decideAlone(call: CandidateCall, prepare?: Prepare): Promise<CallDecision> {
    if (prepare !== undefined) return this.#prepared(call, prepare);
    return this.#database.writeGroup(async (trx) => only(await acceptGroup(trx, [call], this.#limits, Date.now())));
  }

  /** Rolls back if an item is refused, and decides the others again without it: they do not depend on a refused one. */
  async #prepared(call: CandidateCall, prepare: Prepare): Promise<CallDecision> {
    const refused = new Map<string, Decision>();
    for (let round = 1; ; round++) {
      const items = call.items.filter(({ id }) => !refused.has(id));
      const all = (decisions: readonly Decision[]): Decision[] => {
        const decided = new Map(items.map(({ id }, index) => [id, decisions[index]]));
        return call.items.flatMap(({ id }) => refused.get(id) ?? decided.get(id) ?? []);
      };
      if (items.length === 0) return { kind: "decided", items: all([]) };
      const part: CandidateCall = { ...call, items, answer: (decisions) => call.answer(all(decisions)) };
      const decision = await this.#alone(part, prepare);
      if (decision.kind !== "decided") return decision;
      if (decision.items.every(isStored)) return { kind: "decided", items: all(decision.items) };
      for (const [index, { id }] of items.entries()) {
        const of = decision.items[index];
        if (of === undefined || of.kind === "accepted") continue;
        // Without the refused ones, `prepare` may have room for it.
        if (of.kind !== "failed" || round >= ROUNDS) refused.set(id, of);
      }
    }
  }

  /** Decides a call with extra changes. It commits only if nothing has to be rolled back. */
  async #alone(call: CandidateCall, prepare: Prepare): Promise<CallDecision> {
    try {
      return await this.#database.write(async (trx) => {
        const decision = only(await acceptGroup(trx, [call], this.#limits, Date.now(), prepare));
        if (decision.kind !== "decided" || !decision.items.every(isStored)) throw new NotAccepted(decision);
        return decision;
      });
    } catch (error) {
      if (error instanceof NotAccepted) return error.decision;
      throw error;
    }
  }
}

/** Whether what was prepared for an item may stay: it was accepted, or nothing was prepared for it. */
function isStored({ kind }: Decision): boolean {
  return kind === "accepted" || kind === "failed";
}

function only(decisions: readonly CallDecision[]): CallDecision {
  const [decision] = decisions;
  if (decision === undefined) throw new Error("a group of one has one decision");
  return decision;
}

/** Rolls back the transaction of a call that was prepared and then not accepted as a whole. */
class NotAccepted extends Error {
  override readonly name = "NotAccepted";
  readonly decision: CallDecision;

  constructor(decision: CallDecision) {
    super(decision.kind);
    this.decision = decision;
  }
}
