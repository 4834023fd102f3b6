import { sealedPlace } from "../keys/sealer.ts";
import { ApiError, fieldError } from "../domain/error-codes.ts";
import { isMint, isOfWallet } from "../domain/command.ts";
import type { RequestType } from "../domain/request.ts";
import { orderedId } from "../shared/ids.ts";
import { acceptsUnboundValues } from "../store/db/meta.ts";
import { findCollectionOfApp } from "../store/listings/collections.ts";
import { markRetried } from "../store/requests/request-state.ts";
import { findRequest, type StoredRequest } from "../store/requests/requests.ts";
import { accept, type CheckedCall, type Item } from "./accept.ts";
import type { Changes } from "./accept-changes.ts";
import type { Scope } from "./api-tokens.ts";
import { checkFreeze, refuseLongTexts } from "./collections.ts";
import type { CommandContext } from "./context.ts";
import type { Caller } from "./idempotency.ts";
import { requireMinter } from "./mint.ts";
import { isError, type OrError } from "./or-error.ts";
import { checkMoves } from "./transfer.ts";

/** The scope of the calls that create requests of a type. */
const SCOPES: Readonly<Record<RequestType, Scope>> = {
  collection: "collections",
  mint: "mint",
  transfer: "transfer",
  burn: "transfer",
  metadata: "collections",
  freeze: "collections",
};

/**
 * Sends a failed request again, as a new one, by the rules of now: quotas, supply caps, balances, the gas budget. A request is
 * sent again once: a second call answers the same new request, whatever became of it.
 * @param requireScope throws if the caller lacks a scope.
 * @returns the JSON text of the answer.
 * @throws ApiError `not_found`, `forbidden`, `not_retryable`, and those of the call that created the request
 */
export async function retryRequest(
  context: CommandContext,
  caller: Caller,
  id: string,
  requireScope: (scope: Scope) => void,
): Promise<string> {
  const failed = await findRequest(context.database.read, caller.appId, id);
  if (failed === undefined) throw new ApiError("not_found");
  requireScope(SCOPES[failed.type]);
  if (failed.retried_by !== null) return answerOf(failed.retried_by);
  requireRetryable(failed);
  try {
    return (await accept(context, caller, () => checkAgain(context, failed))).json;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Another call may have sent it again since it was read, and may be why the rules refuse this one. On SQLite the two may share a
    // commit, which ends after this error: a further transaction comes after it.
    const now = await context.database.write((trx) => findRequest(trx, caller.appId, id));
    if (now?.retried_by != null) return answerOf(now.retried_by);
    requireRetryable(now ?? failed);
    throw error;
  }
}

function answerOf(requestId: string): string {
  return JSON.stringify({ request_id: requestId });
}

const CORRECTED =
  "The request failed, and then a reorg of the chain changed that: see its `corrected` event. It cannot be sent again, because its call may have happened. Send a new request if it is still needed.";

/** @throws ApiError `not_retryable` */
function requireRetryable({ status, corrected }: Pick<StoredRequest, "status" | "corrected">): void {
  if (status === "failed" && corrected === 0) return;
  const isNot = `The request is \`${status}\`. Only a request that has failed can be sent again.`;
  throw new ApiError("not_retryable", null, { message: status === "failed" ? CORRECTED : isNot });
}

/** The request as a new item, by the rules that depend on neither other items nor other calls. */
async function checkAgain(
  context: CommandContext,
  failed: StoredRequest,
): Promise<Pick<CheckedCall, "items" | "changes">> {
  const { items, changes } = await itemOf(context, failed);
  const [item] = items;
  if (item === undefined || isError(item)) return { items };
  const again: Item = {
    ...item,
    reference: failed.reference,
    unlockable: await sealedAgain(context, failed, item.id),
    retryOf: failed.id,
  };
  const marked: Changes = async (trx, ids) => {
    const refused = await changes?.(trx, ids);
    if (!(await markRetried(trx, failed.id, item.id))) throw new ApiError("not_retryable");
    return refused ?? new Map<string, ApiError>();
  };
  return { items: [again], changes: marked };
}

interface CheckedItem {
  items: readonly OrError<Item>[];
  changes?: Changes | undefined;
}

async function itemOf(context: CommandContext, failed: StoredRequest): Promise<CheckedItem> {
  const { app_id: appId, type, command } = failed;
  const item: Item = { id: orderedId(), appId, type, command };
  if (command.kind === "create-collection") {
    await refuseLongTexts(context, command);
    return { items: [item] };
  }
  if (command.kind === "freeze-metadata") return checkFreeze(context, appId, command.collection);
  if (isOfWallet(command)) {
    const { from: from_address, contract: contract_address, quantity, tokenId } = command;
    const to = command.kind === "transfer" ? { to_address: command.to } : {};
    const amount = command.contractType === "ERC721" ? undefined : BigInt(quantity);
    const fields = { from_address, contract_address, token_id: BigInt(tokenId), amount, ...to };
    return checkMoves(context, appId, command.kind, [fields]);
  }
  const collection = await findCollectionOfApp(context.database.read, appId, command.collection);
  const concerned = { ...item, collection: command.collection, tokenId: failed.nft_token_id };
  if (isMint(command)) {
    requireMinter(collection);
    return { items: [{ ...concerned, waitsForMedia: failed.copies_media === 1 }] };
  }
  if (collection === undefined) throw new ApiError("not_found");
  if (collection.service_is_steward === 1) return { items: [concerned] };
  const message = "The collection has its own owner now. Only that owner can announce a change.";
  throw fieldError("wrong_hosting", "address", message);
}

/** Unlockable content is encrypted for the request that has it. */
async function sealedAgain(
  { sealer, database }: CommandContext,
  { id, unlockable }: StoredRequest,
  newId: string,
): Promise<string | null> {
  if (unlockable === null) return null;
  const content = await sealer.open(unlockable, sealedPlace("unlockable", id), () =>
    acceptsUnboundValues(database.read),
  );
  return sealer.seal(content, sealedPlace("unlockable", newId));
}
