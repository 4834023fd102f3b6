import type { Logger } from "pino";

import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import type { ForeignContracts } from "../chain/foreign-contracts.ts";
import { fieldError } from "../domain/error-codes.ts";
import { findCollection } from "../store/listings/collections.ts";
import type { Database } from "../store/db/database.ts";
import { followForeignContract, foreignContract, recordForeignHolding } from "../store/ledger/foreign.ts";
import { type ContentsFilter, heldTokenIds } from "../store/listings/holdings.ts";

export interface FollowContentsDeps {
  database: Database;
  foreign: ForeignContracts;
  logger: Logger;
}

/** Tokens that one call reads from the chain at most, and how many of them in parallel. */
const MAX_TOKENS = 1_000;
const AT_A_TIME = 25;

/**
 * Prepares a list of what a wallet holds of a contract. If the service did not deploy the contract, it follows the contract
 * from now on, and reads the tokens that the wallet already holds from the chain.
 * @throws ApiError `contract_not_supported`
 */
export async function followContents(deps: FollowContentsDeps, wallet: string, filter: ContentsFilter): Promise<void> {
  const db = deps.database.read;
  if ((await findCollection(db, filter.contract)) !== undefined) return;
  const known = await foreignContract(db, filter.contract);
  try {
    await readFromChain(deps, wallet, filter, known ?? null);
  } catch (error) {
    // A contract that is already followed can be listed from the database.
    const unknown = error instanceof ChainUnavailable || error instanceof RpcError;
    if (!unknown || known === undefined) throw error;
    deps.logger.warn(
      { err: error, contract: filter.contract },
      "the node is unavailable: contents are listed from the database",
    );
  }
}

type Contract = NonNullable<Awaited<ReturnType<ForeignContracts["inspect"]>>>;

async function readFromChain(
  deps: FollowContentsDeps,
  wallet: string,
  filter: ContentsFilter,
  known: Contract | null,
): Promise<void> {
  const { foreign, database } = deps;
  const address = filter.contract;
  const contract = known ?? (await foreign.inspect(address));
  if (contract === null) {
    throw fieldError(
      "contract_not_supported",
      "contract_address",
      "Must be the address of an ERC721 or ERC1155 contract.",
    );
  }
  const { type, name } = contract;
  // Read the block number first: transfers between the two reads are then indexed and not missed.
  const block = await foreign.headBlock();
  const candidates = filter.tokenId === null ? await foreign.tokensOf(address, type, wallet) : [filter.tokenId];
  const held = await heldTokenIds(database.read, wallet, address);
  const unknown = candidates.filter((tokenId) => !held.has(tokenId)).slice(0, MAX_TOKENS);

  const found: { tokenId: string; quantity: string }[] = [];
  for (let start = 0; start < unknown.length; start += AT_A_TIME) {
    const part = unknown.slice(start, start + AT_A_TIME);
    const quantities = await Promise.all(part.map((tokenId) => foreign.holding(address, type, tokenId, wallet)));
    for (const [index, tokenId] of part.entries()) {
      const quantity = quantities[index] ?? 0n;
      if (quantity > 0n) found.push({ tokenId, quantity: quantity.toString() });
    }
  }
  if (known !== null && found.length === 0) return;
  await database.write(async (trx) => {
    await followForeignContract(trx, { address, type, name, followedFrom: block });
    for (const { tokenId, quantity } of found) {
      await recordForeignHolding(trx, { contract: address, tokenId, owner: wallet, quantity, block });
    }
  });
}
