import { acceptGroup, type AcceptRules, type CheckedCall, type Item } from "../../../api/commands/accept.ts";
import { isError } from "../../../api/commands/or-error.ts";
import { createSealer } from "../../../api/keys/sealer.ts";
import type { Trx } from "../../../api/store/db/sql.ts";

/** No limit that a test reaches. */
export const NO_LIMITS: AcceptRules = {
  backlog: Number.MAX_SAFE_INTEGER,
  mediaBacklog: Number.MAX_SAFE_INTEGER,
  appGasPerDay: null,
  sealer: createSealer([{ id: "test", bytes: Buffer.alloc(32, 1) }]),
};

/** A single call of an app. */
export function callOf(appId: string, items: readonly Item[]): CheckedCall {
  return {
    caller: { appId, credential: null, idempotency: null },
    key: null,
    items,
    isBatch: false,
  };
}

/** Single calls, one for each item. */
export function callsOf(items: readonly Item[]): CheckedCall[] {
  return items.map((item) => callOf(item.appId, [item]));
}

/** Decides single calls in one group. @returns `accepted` for each, or its error code and message. */
export async function acceptEach(trx: Trx, items: readonly Item[], rules: AcceptRules, now: number): Promise<string[]> {
  const answers = await acceptGroup(trx, callsOf(items), rules, now);
  return answers.map((answer) => (isError(answer) ? `${answer.errorCode}: ${answer.message}` : "accepted"));
}
