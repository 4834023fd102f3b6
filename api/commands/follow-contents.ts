import { type ApiError, fieldError } from "../domain/error-codes.ts";
import type { Database } from "../store/db/database.ts";
import { AT_ONCE } from "../store/db/due.ts";
import { checkpointOf } from "../store/db/meta.ts";
import { wantSearch } from "../store/ledger/contract-reads.ts";
import { findForeignContracts, followContracts, type FollowedContract } from "../store/ledger/follow.ts";
import { isUncertain, markUncertain } from "../store/ledger/uncertain.ts";
import { unfollowContract as unfollow } from "../store/ledger/indexed-contracts.ts";
import { findCollection } from "../store/listings/collections.ts";
import { type FollowedContractView, storedContents } from "../store/listings/followed-contracts.ts";
import { type ContentsFilter, isHeld } from "../store/listings/holdings.ts";
import type { Scope } from "./api-tokens.ts";

/** Makes an app stop following a contract. @returns false when the app does not follow it. */
export function unfollowContract(deps: { database: Database }, appId: string, address: string): Promise<boolean> {
  return deps.database.write((trx) => unfollow(trx, appId, address));
}

/** A contract as the API and the command line show it. */
export function showFollowed({ asOf, until, followedSince, seq: _seq, ...contract }: FollowedContractView) {
  const ends = until === null ? null : new Date(until).toISOString();
  return { ...contract, as_of_block: asOf, until: ends, followed_at: new Date(followedSince).toISOString() };
}

interface FollowContentsDeps {
  database: Database;
  /** Notified when a contract must be read. */
  signals: { contracts: { notify(): void } };
  /** An app may follow at most this many contracts. */
  quota: number;
}

/**
 * Prepares a list of what a wallet holds of a contract, from the database alone. If the service did not deploy the contract
 * and the token may follow contracts, the app follows it from now on. What must be read from the chain is left to the
 * background.
 * @returns the block as of which the stored tokens are complete; null when they were never read.
 * @throws ApiError `contract_not_supported`, `too_many_contracts`
 */
export async function followContents(
  deps: FollowContentsDeps,
  caller: { appId: string; scopes: readonly Scope[] },
  wallet: string,
  filter: ContentsFilter,
): Promise<number | null> {
  const db = deps.database.read;
  const collection = await findCollection(db, filter.contract);
  if (collection?.adopted === 0) return checkpointOf(db);
  const known = (await findForeignContracts(db, caller.appId, [filter.contract])).get(filter.contract);
  if (known?.followed !== true && !caller.scopes.includes("contracts")) return null;
  if (known?.state === "unsupported") throw notSupported();
  // Of an adopted contract nothing is to be read but what everybody waits for.
  if (known?.followed === true && collection !== undefined) return known.as_of ?? checkpointOf(db);
  if (known?.followed !== true || (await isWanting(deps.database, known, wallet, filter))) {
    await askToRead(deps, caller.appId, wallet, filter);
    deps.signals.contracts.notify();
  }
  return known?.followed === true ? (await storedContents(db, filter.contract, wallet)).asOf : null;
}

/** Whether the wallet must be read from the chain and no such read is planned yet. */
async function isWanting(
  { read: db }: Database,
  contract: FollowedContract,
  wallet: string,
  { contract: address, tokenId }: ContentsFilter,
): Promise<boolean> {
  if (!(await storedContents(db, address, wallet)).planned) return true;
  if (tokenId === null || contract.state !== "followed") return false;
  // A contract may move a token without an event. Naming the token finds it.
  const key = { contract: address, tokenId, owner: wallet };
  return !(await isHeld(db, wallet, address, tokenId)) && !(await isUncertain(db, key));
}

async function askToRead(
  deps: FollowContentsDeps,
  appId: string,
  wallet: string,
  { contract: address, tokenId }: ContentsFilter,
): Promise<void> {
  await deps.database.write(async (trx) => {
    const now = Date.now();
    const follow = { appId, contracts: new Map([[address, null]]), quota: deps.quota, now };
    if ((await followContracts(trx, follow)).has(address)) throw tooManyContracts(deps.quota);
    const contract = (await findForeignContracts(trx, appId, [address])).get(address);
    // The service's own collection, created meanwhile.
    if (contract === undefined) return;
    const dueAt = contract.state === "quarantined" ? (contract.due_at ?? AT_ONCE) : AT_ONCE;
    await wantSearch(trx, { contract: address, owner: wallet, appId }, dueAt);
    if (tokenId === null) return;
    const checkpoint = await checkpointOf(trx);
    await markUncertain(trx, [{ contract: address, tokenId, owner: wallet }], {
      block: checkpoint,
      completeTo: checkpoint,
    });
  });
}

export function notSupported(message = "Must be the address of an ERC721 or ERC1155 contract."): ApiError {
  return fieldError("contract_not_supported", "contract_address", message);
}

export function tooManyContracts(quota: number, field = "contract_address"): ApiError {
  return fieldError(
    "too_many_contracts",
    field,
    `The app follows ${quota.toString()} contracts of others, as many as it may. Stop following one with DELETE /v1/contracts/<address>.`,
  );
}
