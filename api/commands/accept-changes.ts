import type { ApiError } from "../domain/error-codes.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/sql.ts";
import { acceptGroup, type AcceptRules, type CheckedCall, type Item } from "./accept.ts";
import type { Answer } from "./answers.ts";
import { type OrError, unlessError } from "./or-error.ts";

/**
 * Changes other rows in the transaction that accepts the items, after the apps are held and before anything else is read.
 * @param ids the items that are decided.
 * @returns the errors of the items that it refuses, for which it has changed nothing.
 */
export type Changes = (trx: Trx, ids: ReadonlySet<string>) => Promise<ReadonlyMap<string, ApiError>>;

/** Rounds in which a call with changes is decided. In the last one, what the changes refuse stays refused. */
const ROUNDS = 5;

/**
 * Decides a call with changes, in a transaction of its own. What it changed for an item that is refused is rolled back, and the
 * other items are decided again without it: they do not depend on it.
 * @param write begins the transaction.
 * @throws ApiError if nothing is accepted and the call itself is refused
 */
export async function acceptWithChanges(
  write: Database["write"],
  call: CheckedCall,
  rules: AcceptRules,
): Promise<Answer> {
  let { items } = call;
  for (let round = 1; ; round++) {
    /** The errors of the changes. They have changed nothing for these items. */
    let refused = new Set<OrError<Item>>();
    const changes: Changes = async (trx, ids) => {
      const errors = (await call.changes?.(trx, ids)) ?? new Map<string, ApiError>();
      refused = new Set(errors.values());
      return errors;
    };
    try {
      return await write(async (trx) => {
        const [answer] = await acceptGroup(trx, [{ ...call, items, changes }], rules, Date.now());
        if (answer === undefined) throw new Error("a call has no answer");
        const decided = unlessError(answer);
        // Nothing has to be rolled back for items that are accepted, and for those that the changes refused.
        const mayStay = new Set<OrError<Item>>([...items, ...refused]);
        if (decided.replayed || !decided.results.every((one) => mayStay.has(one))) throw new RolledBack(decided);
        return decided;
      });
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
      const { answer } = error;
      if (answer.replayed) return answer;
      // Without the refused items, the changes may have room for others.
      items = answer.results.map((one, index) => (round < ROUNDS && refused.has(one) ? (items[index] ?? one) : one));
    }
  }
}

class RolledBack extends Error {
  override readonly name = "RolledBack";
  readonly answer: Answer;

  constructor(answer: Answer) {
    super("not all items of a call with changes were accepted");
    this.answer = answer;
  }
}
