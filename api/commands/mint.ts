import { type ApiError, fieldError } from "../domain/error-codes.ts";
import type { Mint } from "../domain/command.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";
import { type AcceptDeps, acceptRequest } from "./accept-request.ts";
import { checkMedia } from "./check-media.ts";
import { answerOfEarlierCall, type Caller } from "./idempotency.ts";
import { type MintFields, mintVariant } from "./mint-variant.ts";

export interface MintDeps extends AcceptDeps {
  /** `media` is notified when a request waits for its media. */
  signals: AcceptDeps["signals"] & { media: { notify(): void } };
}

/**
 * Accepts a mint into one of the app's collections. The collection's type and hosting decide between the five variants.
 * @returns the JSON text of the answer.
 */
export async function mint(deps: MintDeps, caller: Caller, fields: MintFields): Promise<string> {
  const earlier = await answerOfEarlierCall(deps, caller);
  if (earlier !== null) return earlier;
  const collection = await deps.lookUps.collection(caller.appId, fields.collection_address);
  if (collection === undefined) {
    throw fieldError("collection_not_found", "collection_address", "This app has no collection at this address.");
  }
  const command = mintVariant(collection, fields);
  if (collection.service_may_mint === 0) {
    throw fieldError(
      "service_cannot_mint",
      "collection_address",
      "The collection's owner removed the service as a minter.",
    );
  }
  const copies = fields.copy_media === true && checkMedia(command);
  const content = fields.unlockable_content;
  const answer = await acceptRequest(deps, caller, {
    type: "mint",
    command,
    unlockable: content == null ? null : await deps.sealer.seal(content),
    collection: command.collection,
    tokenId: command.kind === "mint-erc721" ? null : command.tokenId,
    waitsForMedia: copies,
    refusal: (code) => refusalOf(command, code),
  });
  if (copies) deps.signals.media.notify();
  return answer;
}

function refusalOf(command: Mint, code: ReservationRefusal): ApiError {
  switch (code) {
    case "metadata_frozen":
      return fieldError(code, "collection_address", "The collection's metadata is frozen, or a freeze is in progress.");
    case "supply_exceeded":
      if (command.kind === "mint-erc721")
        return fieldError(
          code,
          "collection_address",
          "The collection's maximum supply is reached, pending mints included.",
        );
      return fieldError(code, "quantity", "The total would exceed the most copies of an id, 2^128-1.");
    case "token_already_exists":
      return fieldError(code, "token_id", "This token id already exists, or its creation is pending.");
    case "token_not_found":
      return fieldError(
        code,
        "token_id",
        "This token id does not exist. Create it first, with initial_supply and initial_owner.",
      );
    case "insufficient_balance":
    case "token_busy":
      throw new Error(`a mint was refused for the balance of a wallet: ${code}`);
  }
}
