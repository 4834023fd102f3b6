import { ApiError, fieldError } from "../domain/error-codes.ts";
import type { Mint } from "../domain/command.ts";
import { sealedPlace } from "../keys/sealer.ts";
import { randomId } from "../shared/random-id.ts";
import type { StoredCollection } from "../store/listings/collections.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";
import {
  type Acceptance,
  type AcceptDeps,
  acceptItems,
  type Answer,
  type AnswerForm,
  type Checked,
  checked,
} from "./accept-request.ts";
import { checkMedia, type MintFields, mintVariant } from "./mint-variant.ts";
import { answerOfEarlierCall, type Caller } from "./idempotency.ts";

export interface MintDeps extends AcceptDeps {
  /** `media` is notified when a request waits for its media. */
  signals: AcceptDeps["signals"] & { media: { notify(): void } };
}

/**
 * Accepts mints into the app's collections: one, or those of a batch. A collection's type and hosting decide between the five
 * variants.
 * @param items the fields of each mint, or the error that it has already.
 */
export async function mint(
  deps: MintDeps,
  caller: Caller,
  items: readonly Checked<MintFields>[],
  form: AnswerForm,
): Promise<Answer> {
  const earlier = await answerOfEarlierCall(deps, caller);
  if (earlier !== null) return { json: earlier, retryAfter: null };
  const addresses = items.flatMap((item) => (item instanceof ApiError ? [] : item.collection_address));
  const collections = await deps.lookUps.collections(caller.appId, new Set(addresses));
  const acceptances: Checked<Acceptance>[] = [];
  for (const item of items) {
    const acceptance = item instanceof ApiError ? item : checked(() => acceptanceOf(collections, item));
    const content = item instanceof ApiError ? null : item.unlockable_content;
    if (acceptance instanceof ApiError || content == null) acceptances.push(acceptance);
    else {
      const id = randomId();
      const unlockable = await deps.sealer.seal(content, sealedPlace("unlockable", id));
      acceptances.push({ ...acceptance, id, unlockable });
    }
  }
  const answer = await acceptItems(deps, caller, { items: acceptances, form });
  if (acceptances.some((one) => !(one instanceof ApiError) && one.waitsForMedia === true)) deps.signals.media.notify();
  return answer;
}

/** @throws ApiError when the collection takes no such mint. */
function acceptanceOf(collections: ReadonlyMap<string, StoredCollection>, fields: MintFields): Acceptance {
  const collection = collections.get(fields.collection_address);
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
  return {
    type: "mint",
    command,
    collection: command.collection,
    tokenId: command.kind === "mint-erc721" ? null : command.tokenId,
    waitsForMedia: fields.copy_media === true && checkMedia(command),
    refusal: (code) => refusalOf(command, code),
  };
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
