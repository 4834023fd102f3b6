import type { Command } from "../domain/command.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { RequestType } from "../domain/request.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { Gather } from "../shared/gather.ts";
import { randomId } from "../shared/random-id.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/engine.ts";
import { secondsOfDayLeft } from "../store/requests/gas-usage.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";
import { acceptGroup, type AcceptLimits, type Candidate, type Decision } from "./accept-group.ts";
import type { BacklogLimits, BacklogRefusal } from "./backlog.ts";
import { gatherCalls } from "./gather-calls.ts";
import { type Caller, type IdempotencyDeps, newAnswerOf, replay } from "./idempotency.ts";
import { refuseRelay } from "./refuse-relay.ts";

/** `Retry-After` in seconds when the backlog has no room. */
const RETRY_WHEN_FULL = 30;

const BACKLOG_MESSAGES: Record<BacklogRefusal, string> = {
  backlog_full: "Too many requests of all apps are waiting. Try again after the number of seconds in `Retry-After`.",
  backlog_share_used:
    "Room for waiting requests is short, and this app already uses its share. Try again after the number of seconds in `Retry-After`.",
  media_backlog_full:
    "Too many requests of this app wait for their media. Try again after the number of seconds in `Retry-After`.",
};

export interface AcceptDeps extends IdempotencyDeps {
  database: Database;
  accepting: AcceptQueue;
  /** Address of the relay, which can be neither a destination nor an owner. */
  relay: string;
  /** Notified when a request can be claimed. */
  signals: { requests: { notify(): void } };
}

/** A command whose rules are checked, ready to be stored. */
export interface Acceptance {
  type: RequestType;
  command: Command;
  /** Encrypted. */
  unlockable?: string | null;
  collection?: string | null;
  tokenId?: string | null;
  /** Whether content must be copied before the request may be sent. */
  waitsForMedia?: boolean;
  /** The error for a reservation that is refused. */
  refusal?: (code: ReservationRefusal) => ApiError;
  /**
   * Extra changes of this command, made in the same transaction before the decision. Such a call is decided alone. If
   * this throws, or the call is refused, the changes are rolled back.
   */
  prepare?: (trx: Trx) => Promise<void>;
}

/** Decides calls that arrive together, in one transaction. Create one per process and database. */
export class AcceptQueue {
  readonly #database: Database;
  readonly #limits: AcceptLimits;
  readonly #gather: Gather<Candidate, Decision>;

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

  /** @throws the errors of `prepare` and of the database. */
  async accept(candidate: Candidate, prepare?: (trx: Trx) => Promise<void>): Promise<Decision> {
    if (prepare === undefined) return this.#gather.add(candidate);
    try {
      return await this.#database.write(async (trx) => {
        await prepare(trx);
        const [decision] = await acceptGroup(trx, [candidate], this.#limits, Date.now());
        if (decision === undefined) throw new Error("a group of one has one decision");
        if (decision.kind !== "accepted") throw new NotAccepted(decision);
        return decision;
      });
    } catch (error) {
      if (error instanceof NotAccepted) return error.decision;
      throw error;
    }
  }
}

/** Rolls back the transaction of a call that was prepared and then not accepted. */
class NotAccepted extends Error {
  override readonly name = "NotAccepted";
  readonly decision: Decision;

  constructor(decision: Decision) {
    super(decision.kind);
    this.decision = decision;
  }
}

/**
 * Stores a request with its reservations and its idempotency key, all or nothing.
 * @returns the JSON text of the answer; for a repeated call, the answer of the first one.
 * @throws ApiError `quota_exceeded`, `unavailable`, `idempotency_key_reused`, and the command's refusals
 */
export async function acceptRequest(deps: AcceptDeps, caller: Caller, acceptance: Acceptance): Promise<string> {
  refuseRelay(deps.relay, acceptance.command);
  const id = randomId();
  const response = JSON.stringify({ request_id: id });
  const candidate: Candidate = {
    id,
    appId: caller.appId,
    type: acceptance.type,
    command: acceptance.command,
    unlockable: acceptance.unlockable ?? null,
    collection: acceptance.collection ?? null,
    tokenId: acceptance.tokenId ?? null,
    waitsForMedia: acceptance.waitsForMedia === true,
    answer: newAnswerOf(deps, caller, response),
  };
  const decision = await deps.accepting.accept(candidate, acceptance.prepare);
  crashPoint("request:committed");
  switch (decision.kind) {
    case "accepted":
      deps.signals.requests.notify();
      return response;
    case "repeated":
      return replay(deps.sealer, caller, decision.answer);
    case "removed":
      throw new ApiError("unauthorized");
    case "refused":
      throw errorOf(decision.code, acceptance);
  }
}

function errorOf(code: Extract<Decision, { kind: "refused" }>["code"], { refusal }: Acceptance): ApiError {
  if (isBacklogRefusal(code)) {
    return new ApiError("unavailable", null, { retryAfter: RETRY_WHEN_FULL, message: BACKLOG_MESSAGES[code] });
  }
  if (code === "quota_exceeded") return new ApiError(code, null, { retryAfter: secondsOfDayLeft(Date.now()) });
  if (refusal === undefined) throw new Error(`a request that reserves nothing was refused: ${code}`);
  return refusal(code);
}

function isBacklogRefusal(code: string): code is BacklogRefusal {
  return code in BACKLOG_MESSAGES;
}
