import type { ChainUnavailable } from "../chain/errors.ts";
import type { ForeignContracts, Held, InspectedContract } from "../chain/foreign.ts";
import { FOREIGN_READ_SECONDS } from "../config/limits.ts";
import type { CollectionType, Transfer } from "../domain/command.ts";
import { ApiError, fieldError } from "../domain/error-codes.ts";
import { randomId } from "../shared/text.ts";
import type { Database } from "../store/db/database.ts";
import type { Trx } from "../store/db/sql.ts";
import { checkpointOf } from "../store/ledger/blocks.ts";
import {
  findForeignContracts,
  followContracts,
  type FollowedContract,
  type ForeignHolding,
  recordForeignHoldings,
} from "../store/ledger/follow.ts";
import { markUncertain } from "../store/ledger/uncertain.ts";
import { heldAmong } from "../store/listings/holdings.ts";
import type { TransferSource } from "../store/listings/transfer-source.ts";
import type { ReservationRefusal } from "../store/requests/reservation-set.ts";
import type { Prepare } from "./accept-group.ts";
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
import { notSupported, tooManyContracts } from "./follow-contents.ts";
import { answerOfEarlierCall, type Caller } from "./idempotency.ts";
import { addressOf, newWalletOf, type RecipientDeps, type Recipients, recipientsOf } from "./recipients.ts";

type TransferDeps = AcceptDeps & ForeignDeps & RecipientDeps;

interface TransferFields {
  from_address: string;
  /** This or `to_user`. */
  to_address?: string | undefined;
  to_user?: string | undefined;
  contract_address: string;
  token_id: bigint;
  /** undefined when it is blank. */
  amount?: bigint | undefined;
  reference?: string | undefined;
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
  const recipients = await recipientsOf(
    deps,
    appId,
    started.map((item) => (isError(item) ? item : item.fields)),
  );
  const acceptances = started.map((item) =>
    isError(item)
      ? item
      : checked(() => acceptanceOf(item, item.type ?? foreign.typeOf(item.fields.contract_address), recipients)),
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
function acceptanceOf({ fields, type: own }: Started, type: Checked<CollectionType>, recipients: Recipients) {
  if (isError(type)) throw type;
  const command: Transfer = {
    kind: "transfer",
    contract: fields.contract_address,
    contractType: type,
    foreign: own === null,
    from: fields.from_address,
    to: addressOf(recipients, fields, "to_address"),
    tokenId: fields.token_id.toString(),
    quantity: quantityOf(type, fields.amount).toString(),
  };
  const { contract: collection, tokenId } = command;
  const { reference } = fields;
  const acceptance = { id: randomId(), type: "transfer", command, reference, collection, tokenId } satisfies Acceptance;
  return { ...acceptance, newWallet: newWalletOf(recipients, fields), refusal: refusalOf };
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

interface ForeignDeps {
  database: Pick<Database, "read">;
  foreign: ForeignContracts;
  settings: { limits: { contracts: number } };
}

/** A transfer of a token whose contract the service did not deploy. */
interface ForeignTransfer {
  /** Id of the request. */
  id: string;
  command: Transfer;
}

/** What the chain says about the contracts of others in a call. */
interface ForeignTokens {
  typeOf(address: string): Checked<CollectionType>;
  /** Reads what the wallets hold. @returns the errors of transfers that cannot be accepted, by the ids of their requests. */
  read(transfers: readonly ForeignTransfer[]): Promise<Map<string, ApiError>>;
  /** Stores what was read, in the transaction that accepts the transfers. The app follows the contracts from then on. */
  prepare: Prepare | undefined;
}

/**
 * Asks the chain about contracts that the service did not deploy: their types, and who holds the tokens. Each contract and
 * each balance is read once, a few at a time, and all of them within a limited time.
 */
async function inspectForeign(deps: ForeignDeps, appId: string, contracts: readonly string[]): Promise<ForeignTokens> {
  const addresses = new Set(contracts);
  const known = await findForeignContracts(deps.database.read, appId, addresses);
  // Only where there is something to read: a timer for each call would be wasted.
  const within = (seconds: number) =>
    addresses.size === 0 ? AbortSignal.abort() : AbortSignal.timeout(seconds * 1_000);
  const abort = within(FOREIGN_READ_SECONDS);
  const unknown = [...addresses].filter((address) => known.get(address)?.type == null);
  // At most half of the time, so that slow contracts leave time for the balances in others.
  const inspected = unknown.length === 0 ? [] : await deps.foreign.inspect(unknown, within(FOREIGN_READ_SECONDS / 2));
  const found = new Map<string, InspectedContract | null | ChainUnavailable>(
    unknown.map((address, index) => [address, inspected[index] ?? null]),
  );
  for (const [address, { type, name }] of known) if (type !== null) found.set(address, { type, name });

  const balances: StoredBalance[] = [];
  let asOf = 0;
  return {
    typeOf: (address) => {
      const contract = found.get(address) ?? null;
      if (contract === null) return notSupported();
      return contract instanceof Error ? chainUnavailable(contract) : contract.type;
    },
    read: async (transfers) => {
      // Before the balances: what is indexed after this block may be newer than they are.
      if (transfers.length > 0) asOf = await checkpointOf(deps.database.read);
      const held = await readBalances(deps.foreign, transfers, abort);
      const refused = new Map<string, ApiError>();
      for (const { id, command } of transfers) {
        const quantity = held.get(keyOf(command));
        if (typeof quantity !== "bigint" || quantity === 0n) {
          refused.set(id, foreignRefusalOf(quantity));
          continue;
        }
        const { contract, tokenId, from: owner } = command;
        balances.push({ id, contract, tokenId, owner, quantity: quantity.toString() });
      }
      return refused;
    },
    prepare:
      addresses.size === 0
        ? undefined
        : (trx, ids) => {
            const wanted = balances.filter(({ id }) => ids.has(id));
            return store(trx, { appId, quota: deps.settings.limits.contracts, known, found, asOf }, wanted);
          },
  };
}

interface StoredBalance extends ForeignHolding {
  /** Id of the request. */
  id: string;
}

async function readBalances(
  foreign: ForeignContracts,
  transfers: readonly ForeignTransfer[],
  abort: AbortSignal,
): Promise<Map<string, Held>> {
  const wanted = [...new Map(transfers.map(({ command }) => [keyOf(command), command])).values()];
  if (wanted.length === 0) return new Map();
  const queries = wanted.map(({ contract, contractType: type, tokenId, from: owner }) => ({
    contract,
    type,
    tokenId,
    owner,
  }));
  const held = await foreign.holdings(queries, abort);
  return new Map(wanted.map((command, index) => [keyOf(command), held[index]]));
}

function keyOf({ contract, tokenId, from }: Transfer): string {
  return `${contract}/${tokenId}/${from}`;
}

async function store(
  trx: Trx,
  call: {
    appId: string;
    quota: number;
    known: ReadonlyMap<string, FollowedContract>;
    found: ReadonlyMap<string, InspectedContract | null | ChainUnavailable>;
    /** The checkpoint before the balances were read. */
    asOf: number;
  },
  balances: readonly StoredBalance[],
): Promise<Map<string, ApiError>> {
  // Where the contract is followed already, the database may be newer than the balance that was just read.
  const followed = balances.filter(({ contract }) => call.known.get(contract)?.followed === true);
  const stored = new Set(await heldAmong(trx, followed));
  const wanted = balances.filter((balance) => !stored.has(balance));
  if (wanted.length === 0) return new Map();
  const contracts = new Map(
    wanted.map(({ contract }) => {
      const known = call.found.get(contract) ?? null;
      return [contract, known instanceof Error ? null : known];
    }),
  );
  const { appId, quota, asOf } = call;
  const refused = await followContracts(trx, { appId, contracts, quota, now: Date.now() });
  // Moves after this block are indexed.
  const block = await checkpointOf(trx);
  const accepted = wanted.filter(({ contract }) => !refused.has(contract));
  await recordForeignHoldings(trx, accepted, block);
  // Blocks were stored since the balances were read, and may have changed them.
  if (block !== asOf) await markUncertain(trx, accepted, { block, completeTo: Math.min(asOf, block) });
  return new Map(wanted.flatMap(({ id, contract }) => (refused.has(contract) ? [[id, tooManyContracts(quota)]] : [])));
}

/** @param held what the chain says of a token that the wallet cannot transfer. */
function foreignRefusalOf(held: Held): ApiError {
  if (held === "failed") return notSupported("The contract does not say who holds the token within the limits.");
  if (held === undefined) return chainUnavailable(null);
  return held === null ? tokenNotFound() : insufficientBalance();
}

function tokenNotFound(): ApiError {
  return fieldError("token_not_found", "token_id", "The token does not exist.");
}

function insufficientBalance(): ApiError {
  return fieldError(
    "insufficient_balance",
    "token_id",
    "The wallet does not hold enough copies of the token, pending transfers subtracted.",
  );
}

/** Seconds after which the caller may retry when the chain or the database was unavailable. */
const RETRY_WHEN_UNAVAILABLE = 5;

/** The error of a call, or of an item of a batch, whose contracts the node could not read. */
function chainUnavailable(error: ChainUnavailable | null): ApiError {
  return new ApiError("unavailable", null, {
    retryAfter: secondsUntilRetry(error),
    ...(error === null ? {} : { cause: error }),
  });
}

/** Seconds: longer than usual if the chain's provider asked for more. */
export function secondsUntilRetry(error: ChainUnavailable | null): number {
  return Math.max(RETRY_WHEN_UNAVAILABLE, Math.ceil((error?.retryAfter ?? 0) / 1_000));
}
