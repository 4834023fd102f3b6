import { ApiError, fieldError } from "../domain/error-codes.ts";
import type { Mint } from "../domain/command.ts";
import { findCollectionOfApp } from "../store/listings/collections.ts";
import type { Trx } from "../store/db/engine.ts";
import { isMetadataOpen } from "../store/requests/freezing.ts";
import { holdForMedia } from "../store/media/media-jobs.ts";
import { reserveErc1155Create, reserveErc1155Mint, reserveErc721Mint } from "../store/requests/reservations.ts";
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
  const collection = await findCollectionOfApp(deps.database.read, caller.appId, fields.collection_address);
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
    reserve: async (trx, requestId) => {
      await reserve(trx, command, requestId);
      if (copies) await holdForMedia(trx, requestId);
    },
  });
  if (copies) deps.signals.media.notify();
  return answer;
}

/** A token with hosted metadata cannot be added once the metadata is frozen. */
async function checkOpen(trx: Trx, command: Mint): Promise<void> {
  if (command.kind === "mint-erc1155" || command.metadata === null) return;
  if (await isMetadataOpen(trx, command.collection)) return;
  throw fieldError(
    "metadata_frozen",
    "collection_address",
    "The collection's metadata is frozen, or a freeze is in progress.",
  );
}

async function reserve(trx: Trx, command: Mint, requestId: string): Promise<void> {
  await checkOpen(trx, command);
  switch (command.kind) {
    case "mint-erc721":
      if (await reserveErc721Mint(trx, command.collection)) return;
      throw fieldError(
        "supply_exceeded",
        "collection_address",
        "The collection's maximum supply is reached, pending mints included.",
      );
    case "create-erc1155": {
      const { collection, tokenId, quantity, uri, metadata } = command;
      if (await reserveErc1155Create(trx, { collection, tokenId, quantity, requestId, uri, metadata })) return;
      throw fieldError("token_already_exists", "token_id", "This token id already exists, or its creation is pending.");
    }
    case "mint-erc1155": {
      const result = await reserveErc1155Mint(trx, command.collection, command.tokenId, BigInt(command.quantity));
      if (result === "ok") return;
      if (result === "token_not_found")
        throw fieldError(
          result,
          "token_id",
          "This token id does not exist. Create it first, with initial_supply and initial_owner.",
        );
      throw new ApiError(result, [
        { field: "quantity", code: result, message: "The total would exceed the most copies of an id, 2^128-1." },
      ]);
    }
  }
}
