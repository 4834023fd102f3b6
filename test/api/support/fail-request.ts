import type { RequestFailureCode } from "../../../api/domain/error-codes.ts";
import { failWithoutEffect } from "../../../api/store/requests/request-state.ts";
import { findRequest } from "../../../api/store/requests/requests.ts";
import type { TestApi } from "./api.ts";

/** Fails the request, as the relayer does when it cannot be sent. @returns its id. */
export async function failRequest(
  { database }: Pick<TestApi, "database">,
  id: string,
  errorCode: RequestFailureCode = "execution_reverted",
): Promise<string> {
  const request = await findRequest(database.read, null, id);
  if (request === undefined) throw new Error("there is no such request");
  const outcome = { ok: false, errorCode, errors: null } as const;
  await database.write((trx) => failWithoutEffect(trx, [{ request, outcome }], Date.now()));
  return id;
}
