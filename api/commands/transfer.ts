import { ChainUnavailable } from "../chain/errors.ts";
import { type CollectionType, isDelegated, type WalletCommand } from "../domain/command.ts";
import { ApiError, ERRORS, fieldError } from "../domain/error-codes.ts";
import { orderedId } from "../shared/ids.ts";
import type { TransferSource } from "../store/listings/transfer-source.ts";
import { accept, type Item } from "./accept.ts";
import type { Answer } from "./answers.ts";
import type { CommandContext } from "./context.ts";
import { chainUnavailable, inspectForeign } from "./foreign-tokens.ts";
import type { Caller } from "./idempotency.ts";
import { isError, orError, type OrError, unlessError, withoutErrors } from "./or-error.ts";
import { recipientAddress, newWalletOf, type Recipients, recipientsOf } from "./recipients.ts";

interface BurnFields {
  /** This or `from_user`. */
  from_address?: string | undefined;
  from_user?: string | undefined;
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
 * @param transfers the fields of each transfer, or the error that it has already.
 */
export function transfer(
  context: CommandContext,
  caller: Caller,
  transfers: readonly OrError<TransferFields>[],
  isBatch: boolean,
): Promise<Answer> {
  return accept(context, caller, () => checkMoves(context, caller.appId, "transfer", transfers), isBatch);
}

/** The same for burns. They differ from transfers in that nobody gets the token, so soulbound tokens can be burnt, too. */
export function burn(
  context: CommandContext,
  caller: Caller,
  burns: readonly OrError<BurnFields>[],
  isBatch: boolean,
): Promise<Answer> {
  return accept(context, caller, () => checkMoves(context, caller.appId, "burn", burns), isBatch);
}

type WalletItem = Item & { command: WalletCommand };
type Kind = WalletCommand["kind"];

/** The moves as items, by the rules that depend on neither other items nor other calls. */
export async function checkMoves(
  context: CommandContext,
  appId: string,
  kind: Kind,
  moves: readonly OrError<TransferFields>[],
) {
  const started = await startsOf(context, appId, kind, moves);
  const foreign = await inspectForeign(
    context,
    appId,
    started.flatMap((one) => (isError(one) || one.type !== null ? [] : one.fields.contract_address)),
  );
  const recipients = await recipientsOf(
    context,
    appId,
    started.map((one) => (isError(one) ? one : one.fields)),
  );
  const checked = started.map((one) =>
    isError(one)
      ? one
      : orError(() => itemOf(appId, one, one.type ?? foreign.typeOf(one.fields.contract_address), recipients)),
  );
  const items = await withDelegation(context, checked);
  const isForeign = (_item: unknown, index: number) => {
    const start = started[index];
    return start !== undefined && !isError(start) && start.type === null;
  };
  const refused = await foreign.read(withoutErrors(items.filter(isForeign)));
  return {
    items: items.map((item) => (isError(item) ? item : (refused.get(item.id) ?? item))),
    changes: foreign.changes,
  };
}

/** With the wallet that holds the token. */
type SourcedFields = TransferFields & { from_address: string };

/** A transfer or a burn, and the type of the service's collection; null for a contract of others. */
interface Started {
  kind: Kind;
  fields: SourcedFields;
  type: CollectionType | null;
  /** Whether the wallet acts through its delegate. */
  delegated: boolean;
}

/** Looks up the wallets and the collections. */
async function startsOf(
  context: CommandContext,
  appId: string,
  kind: Kind,
  moves: readonly OrError<TransferFields>[],
): Promise<OrError<Started>[]> {
  const sourced = await sourcedOf(context, appId, moves);
  const places = withoutErrors(sourced).map((fields) => ({
    appId,
    wallet: fields.from_address,
    contract: fields.contract_address,
  }));
  const sources = (await context.lookUps.transferSources(places)).values();
  return sourced.map((fields) =>
    isError(fields) ? fields : orError(() => startOf(kind, fields, sources.next().value)),
  );
}

/** With the wallets of the users who are named. */
async function sourcedOf(
  { lookUps }: CommandContext,
  appId: string,
  moves: readonly OrError<TransferFields>[],
): Promise<OrError<SourcedFields>[]> {
  const users = withoutErrors(moves).flatMap(({ from_user: userIdentifier }) =>
    userIdentifier === undefined ? [] : { appId, userIdentifier },
  );
  const wallets = (await lookUps.walletsOfUsers(users)).values();
  return moves.map((fields) => {
    if (isError(fields)) return fields;
    const from = fields.from_user === undefined ? fields.from_address : wallets.next().value?.address;
    if (from !== undefined) return { ...fields, from_address: from };
    return fieldError("wallet_not_found", "from_user", "This user of the app has no wallet.");
  });
}

function startOf(kind: Kind, fields: SourcedFields, source: TransferSource | undefined): Started {
  if (source?.ownsWallet !== true) {
    throw fieldError("wallet_not_found", "from_address", "This app has no wallet with this address.");
  }
  if (source.watchOnly) {
    const field = fields.from_user === undefined ? "from_address" : "from_user";
    throw fieldError("wallet_watch_only", field, ERRORS.wallet_watch_only.message);
  }
  if (kind === "transfer" && source.soulbound) {
    throw fieldError("not_transferable", "contract_address", "The tokens of this collection can never be transferred.");
  }
  const { collectionType: type, signedBurns } = source;
  return { kind, fields, type, delegated: type === null || (kind === "burn" && !signedBurns) };
}

/** @param type an error if the contract is not supported. */
function itemOf(
  appId: string,
  { kind, fields, delegated }: Started,
  contractType: OrError<CollectionType>,
  recipients: Recipients,
): WalletItem {
  const type = unlessError(contractType);
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
    id: orderedId(),
    appId,
    type: kind,
    command,
    reference: fields.reference,
    collection,
    tokenId,
    newWallet: newWalletOf(recipients, fields),
  };
}

/** Refuses what needs a delegate where the chain has no delegation (EIP-7702), or where the node cannot say so now. */
async function withDelegation(
  { foreign }: CommandContext,
  items: readonly OrError<WalletItem>[],
): Promise<readonly OrError<WalletItem>[]> {
  const needsDelegate = (item: OrError<WalletItem>) => !isError(item) && isDelegated(item.command);
  if (!items.some(needsDelegate)) return items;
  const refusal = await delegationRefusal(foreign);
  return items.map((item) => (refusal !== null && needsDelegate(item) ? refusal : item));
}

async function delegationRefusal(foreign: CommandContext["foreign"]): Promise<ApiError | null> {
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
