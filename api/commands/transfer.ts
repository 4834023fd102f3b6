import { ApiError, fieldError } from "../domain/error-codes.ts";
import type { CollectionType, Transfer } from "../domain/command.ts";
import { randomId } from "../shared/random-id.ts";
import type { TransferSource } from "../store/listings/transfer-source.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";
import {
  type Acceptance,
  type AcceptDeps,
  acceptItems,
  type Answer,
  type AnswerForm,
  type Checked,
  checked,
  isError,
} from "./accept-request.ts";
import { type ForeignDeps, insufficientBalance, inspectForeign, tokenNotFound } from "./foreign-tokens.ts";
import { answerOfEarlierCall, type Caller } from "./idempotency.ts";

export type TransferDeps = AcceptDeps & ForeignDeps;

export interface TransferFields {
  from_address: string;
  to_address: string;
  contract_address: string;
  token_id: bigint;
  /** undefined when it is blank. */
  amount?: bigint | undefined;
}

/**
 * Accepts transfers of tokens from the app's wallets: one, or those of a batch.
 * @param items the fields of each transfer, or the error that it has already.
 */
export async function transfer(
  deps: TransferDeps,
  caller: Caller,
  items: readonly Checked<TransferFields>[],
  form: AnswerForm,
): Promise<Answer> {
  const earlier = await answerOfEarlierCall(deps, caller);
  if (earlier !== null) return { json: earlier, retryAfter: null };
  const { appId } = caller;
  const started = await startsOf(deps, appId, items);
  const foreign = await inspectForeign(
    deps,
    appId,
    started.flatMap((item) => (isError(item) || item.type !== null ? [] : item.fields.contract_address)),
  );
  const acceptances = started.map((item) =>
    isError(item)
      ? item
      : checked(() =>
          acceptanceOf(item.fields, item.type ?? foreign.typeOf(item.fields.contract_address), item.type === null),
        ),
  );
  const refused = await foreign.read(
    acceptances.flatMap((item) =>
      isError(item) || !item.command.foreign ? [] : { id: item.id, command: item.command },
    ),
  );
  return acceptItems(deps, caller, {
    items: acceptances.map((item) => (isError(item) ? item : (refused.get(item.id) ?? item))),
    form,
    prepare: foreign.prepare,
  });
}

/** A transfer, and the type of the service's collection; null for a contract of others. */
interface Started {
  fields: TransferFields;
  type: CollectionType | null;
}

/** Looks up the wallets and the collections. */
async function startsOf(
  deps: TransferDeps,
  appId: string,
  items: readonly Checked<TransferFields>[],
): Promise<Checked<Started>[]> {
  const places = items.flatMap((item) =>
    isError(item) ? [] : { appId, wallet: item.from_address, contract: item.contract_address },
  );
  const sources = (await deps.lookUps.transferSources(places)).values();
  return items.map((fields) => (isError(fields) ? fields : checked(() => startOf(fields, sources.next().value))));
}

function startOf(fields: TransferFields, source: TransferSource | undefined): Started {
  if (source?.ownsWallet !== true) {
    throw fieldError("wallet_not_found", "from_address", "This app has no wallet with this address.");
  }
  if (source.soulbound) {
    throw fieldError("not_transferable", "contract_address", "The tokens of this collection can never be transferred.");
  }
  return { fields, type: source.collectionType };
}

/** @param type an error if the contract is not supported. */
function acceptanceOf(fields: TransferFields, type: Checked<CollectionType>, foreign: boolean) {
  if (isError(type)) throw type;
  const command: Transfer = {
    kind: "transfer",
    contract: fields.contract_address,
    contractType: type,
    foreign,
    from: fields.from_address,
    to: fields.to_address,
    tokenId: fields.token_id.toString(),
    quantity: quantityOf(type, fields.amount).toString(),
  };
  const { contract: collection, tokenId } = command;
  return { id: randomId(), type: "transfer", command, collection, tokenId, refusal: refusalOf } satisfies Acceptance;
}

function quantityOf(type: CollectionType, amount: bigint | undefined): bigint {
  if (type === "ERC1155") {
    if (amount !== undefined) return amount;
    throw new ApiError("validation_failed", [
      { field: "amount", code: "required", message: "This field is required for an ERC1155 token." },
    ]);
  }
  if (amount === undefined || amount === 1n) return 1n;
  throw new ApiError("validation_failed", [
    { field: "amount", code: "too_big", message: "Must be 1 or blank for an ERC721 token, which has one copy." },
  ]);
}

function refusalOf(code: ReservationRefusal): ApiError {
  switch (code) {
    case "insufficient_balance":
      return insufficientBalance();
    case "token_busy":
      return fieldError(
        code,
        "token_id",
        "An earlier transfer of the token is still pending. Try again when it is final.",
      );
    case "token_not_found":
      return tokenNotFound();
    case "supply_exceeded":
    case "token_already_exists":
    case "metadata_frozen":
      throw new Error(`a transfer was refused for the supply of a collection: ${code}`);
  }
}
