import type { RequestFailureCode } from "../../domain/error-codes.ts";
import { isFinal } from "../../domain/request.ts";
import { forUpdate, type Trx } from "../db/sql.ts";
import { failWithoutEffect } from "../requests/request-state.ts";
import { toRequest } from "../requests/requests.ts";
import { endMediaJobsOf } from "./media-jobs.ts";

/** Why a request cannot be ended: there is none, it is final, its transaction may run it, or a lane may be signing it now. */
export type Unendable = "unknown" | "final" | "signed" | "claimed";

/** Fails a request that was never signed, also while it waits for its media. @returns null, or why nothing was changed. */
export async function failUnsigned(
  trx: Trx,
  id: string,
  errorCode: RequestFailureCode,
  now: number,
): Promise<Unendable | null> {
  const row = await trx
    .selectFrom("requests")
    .selectAll()
    .where("id", "=", id)
    .modifyEnd(forUpdate(trx))
    .executeTakeFirst();
  if (row === undefined) return "unknown";
  const request = toRequest(row);
  if (isFinal(request.status)) return "final";
  if (request.status !== "pending") return "signed";
  if (request.lane !== null) return "claimed";
  await endMediaJobsOf(trx, [request]);
  await failWithoutEffect(trx, [{ request, outcome: { ok: false, errorCode, errors: null } }], now);
  return null;
}
