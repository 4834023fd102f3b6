import { ApiError, fieldError } from "../domain/error-codes.ts";
import { findCollectionOfApp } from "../store/listings/collections.ts";
import { startFreezing } from "../store/requests/freezing.ts";
import { acceptRequest } from "./accept-request.ts";
import type { Caller } from "./idempotency.ts";
import type { MintDeps } from "./mint.ts";

/**
 * Accepts the freeze of a hosted collection's metadata. From then on metadata cannot be changed or added. The media role
 * builds the directory once every accepted mint is final.
 * @returns the JSON text of the answer.
 * @throws ApiError `not_found`, `wrong_hosting`, `metadata_frozen`
 */
export async function freezeMetadata(deps: MintDeps, caller: Caller, address: string): Promise<string> {
  const collection = await findCollectionOfApp(deps.database.read, caller.appId, address);
  if (collection === undefined) throw new ApiError("not_found");
  if (collection.metadata_frozen !== 0) throw frozen();
  if (collection.hosting !== "hosted" || collection.base_uri !== null) {
    throw fieldError("wrong_hosting", "address", "The service does not host this collection's metadata.");
  }
  if (collection.service_is_steward === 0) {
    throw fieldError(
      "wrong_hosting",
      "address",
      "The collection has its own owner now. Only that owner can freeze it.",
    );
  }
  const command = { kind: "freeze-metadata", collection: address, type: collection.type, directory: null } as const;
  const acceptance = { type: "freeze", command, collection: address, waitsForMedia: true } as const;
  const answer = await acceptRequest(deps, caller, acceptance, async (trx) => {
    if (!(await startFreezing(trx, address))) throw frozen();
  });
  deps.signals.media.notify();
  return answer;
}

function frozen(): ApiError {
  return fieldError("metadata_frozen", "address", "The collection's metadata is frozen, or a freeze is in progress.");
}
