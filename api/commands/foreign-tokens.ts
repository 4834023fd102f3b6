import type { ChainUnavailable } from "../chain/errors.ts";
import type { ForeignContracts, Held } from "../chain/foreign.ts";
import { FOREIGN_READ_SECONDS } from "../config/limits.ts";
import type { CollectionType, WalletCommand } from "../domain/command.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { KnownContract } from "../domain/followed-contract.ts";
import { holdingKey } from "../domain/token.ts";
import type { Trx } from "../store/db/sql.ts";
import { checkpointOf } from "../store/db/meta.ts";
import {
  findForeignContracts,
  followContracts,
  type FollowedContract,
  type ForeignHolding,
  recordForeignHoldings,
} from "../store/ledger/follow.ts";
import { markUncertain } from "../store/ledger/uncertain.ts";
import { heldAmong } from "../store/listings/holdings.ts";
import type { Changes } from "./accept-changes.ts";
import type { CommandContext } from "./context.ts";
import { notSupported, tooManyContracts } from "./follow-contents.ts";
import type { OrError } from "./or-error.ts";
import { insufficientBalance, tokenNotFound } from "./reservation-errors.ts";

/** A transfer or burn of a token whose contract the service did not deploy. */
interface ForeignCommand {
  /** Id of the request. */
  id: string;
  command: WalletCommand;
}

/** What the chain says about the contracts of others in a call. */
interface ForeignTokens {
  typeOf(address: string): OrError<CollectionType>;
  /** Reads what the wallets hold. @returns the errors of commands that cannot be accepted, by the ids of their requests. */
  read(commands: readonly ForeignCommand[]): Promise<Map<string, ApiError>>;
  /** Stores what was read, in the transaction that accepts the commands. The app follows the contracts from then on. */
  changes: Changes | undefined;
}

/**
 * Asks the chain about contracts that the service did not deploy: their types, and who holds the tokens. Each contract and
 * each balance is read once, a few at a time, and all of them within a limited time.
 */
export async function inspectForeign(
  context: CommandContext,
  appId: string,
  contracts: readonly string[],
): Promise<ForeignTokens> {
  const addresses = new Set(contracts);
  const known = await findForeignContracts(context.database.read, appId, addresses);
  // Only where there is something to read: a timer for each call would be wasted.
  const within = (seconds: number) =>
    addresses.size === 0 ? AbortSignal.abort() : AbortSignal.timeout(seconds * 1_000);
  const abort = within(FOREIGN_READ_SECONDS);
  const unknown = [...addresses].filter((address) => known.get(address)?.type == null);
  // At most half of the time, so that slow contracts leave time for the balances in others.
  const inspected =
    unknown.length === 0 ? [] : await context.foreign.inspect(unknown, within(FOREIGN_READ_SECONDS / 2));
  const found = new Map<string, KnownContract | null | ChainUnavailable>(
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
    read: async (commands) => {
      // Before the balances: what is indexed after this block may be newer than they are.
      if (commands.length > 0) asOf = await checkpointOf(context.database.read);
      const held = await readBalances(context.foreign, commands, abort);
      const refused = new Map<string, ApiError>();
      // A contract that refuses a burn of what the wallet does not hold may have the function.
      const covered = commands.filter(({ command }) => coversQuantity(held.get(keyOf(command)), command));
      const unburnable = await unburnableAmong(context.foreign, covered, abort);
      for (const { id, command } of commands) {
        const quantity = held.get(keyOf(command));
        if (typeof quantity !== "bigint" || quantity === 0n) {
          refused.set(id, foreignRefusalOf(quantity));
          continue;
        }
        if (unburnable.has(id)) {
          refused.set(id, notSupported("The contract has no function with which a holder burns its token."));
          continue;
        }
        const { contract, tokenId, from: owner } = command;
        balances.push({ id, contract, tokenId, owner, quantity: quantity.toString() });
      }
      return refused;
    },
    changes:
      addresses.size === 0
        ? undefined
        : (trx, ids) => {
            const wanted = balances.filter(({ id }) => ids.has(id));
            return store(trx, { appId, quota: context.settings.limits.contracts, known, found, asOf }, wanted);
          },
  };
}

interface StoredBalance extends ForeignHolding {
  /** Id of the request. */
  id: string;
}

async function readBalances(
  foreign: ForeignContracts,
  commands: readonly ForeignCommand[],
  abort: AbortSignal,
): Promise<Map<string, Held>> {
  const wanted = [...new Map(commands.map(({ command }) => [keyOf(command), command])).values()];
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

/** Ids of the burns whose contracts have no function for it. Those that cannot be asked now are simulated later. */
async function unburnableAmong(
  foreign: ForeignContracts,
  commands: readonly ForeignCommand[],
  abort: AbortSignal,
): Promise<Set<string>> {
  const burns = commands.flatMap(({ id, command }) => (command.kind === "burn" ? [{ id, command }] : []));
  if (burns.length === 0) return new Set();
  const burnable = await foreign.burnable(
    burns.map(({ command }) => command),
    abort,
  );
  return new Set(burns.flatMap(({ id }, index) => (burnable[index] === false ? [id] : [])));
}

function coversQuantity(held: Held, { quantity }: WalletCommand): boolean {
  return typeof held === "bigint" && held >= BigInt(quantity);
}

function keyOf({ contract, tokenId, from }: WalletCommand): string {
  return holdingKey({ contract, tokenId, owner: from });
}

async function store(
  trx: Trx,
  call: {
    appId: string;
    quota: number;
    known: ReadonlyMap<string, FollowedContract>;
    found: ReadonlyMap<string, KnownContract | null | ChainUnavailable>;
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

/** Seconds after which the caller may retry when the chain or the database was unavailable. */
const RETRY_WHEN_UNAVAILABLE = 5;

/** The error of a call, or of an item of a batch, whose contracts the node could not read. */
export function chainUnavailable(error: ChainUnavailable | null): ApiError {
  return new ApiError("unavailable", null, {
    retryAfter: secondsUntilRetry(error),
    ...(error === null ? {} : { cause: error }),
  });
}

/** Seconds: longer than usual if the chain's provider asked for more. */
export function secondsUntilRetry(error: ChainUnavailable | null): number {
  return Math.max(RETRY_WHEN_UNAVAILABLE, Math.ceil((error?.retryAfter ?? 0) / 1_000));
}
