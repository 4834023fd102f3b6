import { ChainUnavailable } from "../chain/errors.ts";
import { type CollectionType, isDelegated, type WalletCommand } from "../domain/command.ts";
import { ApiError, fieldError } from "../domain/error-codes.ts";
import { orderedId } from "../shared/ids.ts";
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
import {
  chainUnavailable,
  type ForeignDeps,
  insufficientBalance,
  inspectForeign,
  tokenNotFound,
} from "./foreign-tokens.ts";
import { answerOfEarlierCall, type Caller } from "./idempotency.ts";
import { recipientAddress, newWalletOf, type RecipientDeps, type Recipients, recipientsOf } from "./recipients.ts";

type MoveDeps = AcceptDeps & ForeignDeps & RecipientDeps;

interface BurnFields {
  from_address: string;
  contract_address: string;
  token_id: bigint;
  /** undefined when it is blank. */
  amount?: bigint | undefined;
  reference?: string | undefined;
}

interface TransferFields extends BurnFields {
  /** This or `to_user`. */
  to_address?: string | undefined;
  to_user?: string | undefined;
}

/**
 * Accepts transfers of tokens from the app's wallets: one, or those of a batch.
 * @param items the fields of each transfer, or the error that it has already.
 */
export function transfer(
  deps: MoveDeps,
  caller: Caller,
  items: readonly Checked<TransferFields>[],
  form: AnswerForm,
): Promise<Answer> {
  return accept(deps, caller, { kind: "transfer", items, form });
}

/** The same for burns. They differ from transfers in that nobody gets the token, so soulbound tokens can be burnt, too. */
export function burn(
  deps: MoveDeps,
  caller: Caller,
  items: readonly Checked<BurnFields>[],
  form: AnswerForm,
): Promise<Answer> {
  return accept(deps, caller, { kind: "burn", items, form });
}

type Kind = WalletCommand["kind"];

async function accept(
  deps: MoveDeps,
  caller: Caller,
  { kind, items, form }: { kind: Kind; items: readonly Checked<TransferFields>[]; form: AnswerForm },
): Promise<Answer> {
  const earlier = await answerOfEarlierCall(deps, caller);
  if (earlier !== null) return { json: earlier, retryAfter: null };
  const { appId } = caller;
  const started = await startsOf(deps, appId, { kind, items });
  const foreign = await inspectForeign(
    deps,
    appId,
    started.flatMap((item) => (isError(item) || item.type !== null ? [] : item.fields.contract_address)),
  );
  const recipients = await recipientsOf(
    deps,
    appId,
    started.map((item) => (isError(item) ? item : item.fields)),
  );
  const accepted = started.map((item) =>
    isError(item)
      ? item
      : checked(() => acceptanceOf(item, item.type ?? foreign.typeOf(item.fields.contract_address), recipients)),
  );
  const acceptances = await withDelegation(deps, accepted);
  const refused = await foreign.read(
    acceptances.flatMap((item, index) => {
      const start = started[index];
      const ofOthers = start !== undefined && !isError(start) && start.type === null;
      return isError(item) || !ofOthers ? [] : { id: item.id, command: item.command };
    }),
  );
  return acceptItems(deps, caller, {
    items: acceptances.map((item) => (isError(item) ? item : (refused.get(item.id) ?? item))),
    form,
    prepare: foreign.prepare,
  });
}

/** A transfer or a burn, and the type of the service's collection; null for a contract of others. */
interface Started {
  kind: Kind;
  fields: TransferFields;
  type: CollectionType | null;
  /** Whether the wallet acts through its delegate. */
  delegated: boolean;
}

/** Looks up the wallets and the collections. */
async function startsOf(
  deps: MoveDeps,
  appId: string,
  { kind, items }: { kind: Kind; items: readonly Checked<TransferFields>[] },
): Promise<Checked<Started>[]> {
  const places = items.flatMap((item) =>
    isError(item) ? [] : { appId, wallet: item.from_address, contract: item.contract_address },
  );
  const sources = (await deps.lookUps.transferSources(places)).values();
  return items.map((fields) => (isError(fields) ? fields : checked(() => startOf(kind, fields, sources.next().value))));
}

function startOf(kind: Kind, fields: TransferFields, source: TransferSource | undefined): Started {
  if (source?.ownsWallet !== true) {
    throw fieldError("wallet_not_found", "from_address", "This app has no wallet with this address.");
  }
  if (kind === "transfer" && source.soulbound) {
    throw fieldError("not_transferable", "contract_address", "The tokens of this collection can never be transferred.");
  }
  const { collectionType: type, signedBurns } = source;
  return { kind, fields, type, delegated: type === null || (kind === "burn" && !signedBurns) };
}

/** @param type an error if the contract is not supported. */
function acceptanceOf(
  { kind, fields, delegated }: Started,
  type: Checked<CollectionType>,
  recipients: Recipients,
): Acceptance & { id: string; command: WalletCommand } {
  if (isError(type)) throw type;
  const common = {
    contract: fields.contract_address,
    contractType: type,
    foreign: delegated,
    from: fields.from_address,
    tokenId: fields.token_id.toString(),
    quantity: quantityOf(type, fields.amount).toString(),
  };
  const command: WalletCommand =
    kind === "burn" ? { kind, ...common } : { kind, ...common, to: recipientAddress(recipients, fields, "to_address") };
  const { contract: collection, tokenId } = command;
  return {
    ...{ id: orderedId(), type: kind, command, reference: fields.reference, collection, tokenId },
    newWallet: newWalletOf(recipients, fields),
    refusal: refusalOf,
  };
}

/** Refuses what needs a delegate where the chain has no delegation (EIP-7702), or where the node cannot say so now. */
async function withDelegation<A extends { command: WalletCommand }>(
  { foreign }: MoveDeps,
  acceptances: readonly Checked<A>[],
): Promise<Checked<A>[]> {
  const needsDelegate = (item: Checked<A>) => !isError(item) && isDelegated(item.command);
  if (!acceptances.some(needsDelegate)) return [...acceptances];
  const refusal = await delegationRefusal(foreign);
  return acceptances.map((item) => (refusal !== null && needsDelegate(item) ? refusal : item));
}

async function delegationRefusal(foreign: ForeignDeps["foreign"]): Promise<ApiError | null> {
  try {
    if (await foreign.canDelegate()) return null;
  } catch (error) {
    if (error instanceof ChainUnavailable) return chainUnavailable(error);
    throw error;
  }
  return fieldError(
    "not_supported_by_chain",
    "contract_address",
    "The chain has no delegation of wallets (EIP-7702), which tokens of this contract need.",
  );
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
        "An earlier transfer or burn of the token is still pending. Try again when it is final.",
      );
    case "token_not_found":
      return tokenNotFound();
    case "supply_exceeded":
    case "token_already_exists":
    case "metadata_frozen":
      throw new Error(`a transfer or burn was refused for the supply of a collection: ${code}`);
  }
}
