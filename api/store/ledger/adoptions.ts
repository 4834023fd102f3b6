import { sql } from "kysely";

import type { AdoptableContract } from "../../domain/followed-contract.ts";
import { addToCounter, CounterDeltas, counterKeys } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import { checkpointOf, confirmedBlock } from "../db/meta.ts";
import type { ForeignContractRow } from "../db/schema-contracts.ts";
import { lockCollections, lockLedger, type Trx } from "../db/sql.ts";
import { applyMoves, type AttributedSlice } from "./apply-range.ts";
import { storedBlock } from "./blocks.ts";
import { changeLeased, FOLLOWED } from "./contract-states.ts";
import { findForeignContracts, followContracts } from "./follow.ts";
import { setMinting } from "../requests/minting.ts";
import { hiddenFrom } from "./hidden-history.ts";
import { deleteHistory } from "./history.ts";
import { forgetContents, noteForeignChange } from "./indexed-contracts.ts";
import { listHoldings } from "./listed-holdings.ts";

/*
 * A contract of others becomes a collection of an app. Its state and its progress are in `foreign_contracts`: its logs are read from
 * its first block on, and when they are read up to the newest stored block, the indexer goes on with them. Each part that is read
 * replaces what was stored of these blocks for followers. Blocks that are read back make no events, and are in the histories only of
 * wallets whose app followed the contract then.
 */

/** A contract, with what it says about itself. What happens up to its `block` makes no events. */
export interface AdoptedContract extends AdoptableContract {
  address: string;
}

/** When an adopted contract is asked again who owns it, in milliseconds. */
const ASK_AGAIN = 3_600_000;

/**
 * Makes a contract a collection of the app. Idempotent.
 * @param firstBlock no earlier block has logs of it. @param most contracts that an app may follow.
 * @returns `taken`: the service has deployed it, or another app has adopted it.
 */
export async function adoptContract(
  trx: Trx,
  appId: string,
  contract: AdoptedContract,
  { firstBlock, most, now }: { firstBlock: number; most: number; now: number },
): Promise<"adopted" | "taken" | "too_many"> {
  const { address, type, name, symbol, owner, totalSupply, block } = contract;
  await lockLedger(trx);
  const taken = await trx
    .selectFrom("collections")
    .select(["app_id", "adopted"])
    .where("address", "=", address)
    .executeTakeFirst();
  if (taken !== undefined) return taken.adopted === 1 && taken.app_id === appId ? "adopted" : "taken";
  const checkpoint = await checkpointOf(trx);
  const follows = (await findForeignContracts(trx, appId, [address])).get(address)?.followed === true;
  const order = { appId, contracts: new Map([[address, { type, name }]]), quota: most, now };
  if ((await followContracts(trx, order)).size > 0) return "too_many";
  // An app that followed it before gets what is mined and not stored yet.
  const from = follows ? checkpoint : Math.max(block, checkpoint);
  await trx
    .insertInto("collections")
    .values({
      ...{
        address,
        app_id: appId,
        request_id: null,
        type,
        hosting: "self-hosted",
        name,
        symbol,
        max_supply: null,
        owner,
      },
      ...{ soulbound: 0, storage: "standard", signed_burns: 0, minted: 0, reserved: 0, base_uri: null, metadata: "{}" },
      ...{ collection_uri: null, service_may_mint: 0, service_is_steward: 0, metadata_frozen: 0, royalty_frozen: null },
      ...{ copies: type === "ERC1155" ? "0" : null, listed: 1, verified: null, adopted: 1, total_supply: totalSupply },
      ...{ block_number: from, created_at: now },
    })
    .execute();
  await addToCounter(trx, counterKeys.collections(appId), 1);
  if (!follows) {
    const update = trx.updateTable("contract_follows").set({ followed_from: from }).where("ended_at", "is", null);
    await update.where("app_id", "=", appId).where("address", "=", address).execute();
  }
  // The balances that were read for apps that follow it. Its logs will say the same.
  await forgetContents(trx, address, null, new CounterDeltas());
  const reading = { type, name, state: "reading", reason: null, due_at: AT_ONCE, as_of: firstBlock - 1 } as const;
  const update = trx.updateTable("foreign_contracts").set({ ...reading, failures: 0, window_from: 0, window_logs: 0 });
  await update.where("address", "=", address).execute();
  const off = { mint_function: "", code_hash: "", implementation: null, owner, stopped: null };
  await setMinting(trx, { contract: address, ...off, created_at: now });
  await noteForeignChange(trx);
  return "adopted";
}

/** A part of the past of a contract: what its logs say of the blocks after `as_of`, up to a block. */
interface PastPart extends Pick<AttributedSlice, "entries" | "wallets"> {
  to: number;
  /** Hash of that block. */
  hash: string | undefined;
}

/**
 * Stores a part of the past of a contract.
 * @param contract as it was leased.
 * @returns the contract as it is now; `null` when nothing was stored: another process has it, or blocks were rolled back.
 */
export async function storePast(
  trx: Trx,
  contract: ForeignContractRow,
  { entries, wallets, to, hash }: PastPart,
  now: number,
): Promise<ForeignContractRow | null> {
  await lockLedger(trx);
  const { address } = contract;
  const checkpoint = await checkpointOf(trx);
  if (to > checkpoint || (await hiddenFrom(trx)) !== null) return null;
  // A reorg can still drop it. Then the indexer rolls it back as its own blocks.
  if (to > (await confirmedBlock(trx)) && (await storedBlock(trx, to))?.hash !== hash) return null;
  const isUpToDate = to === checkpoint;
  const state = isUpToDate
    ? { ...FOLLOWED, due_at: now + ASK_AGAIN, window_logs: 0 }
    : { as_of: to, due_at: contract.due_at, window_logs: contract.window_logs + entries.length };
  if (!(await changeLeased(trx, contract, state))) return null;
  await lockCollections(trx, [address]);
  const counters = new CounterDeltas();
  const replaced = await trx
    .selectFrom("transfers")
    .select(["id", "contract", "token_id"])
    // By the index of blocks: the contract may have millions of rows, and the part has few blocks.
    .where(sql`contract || ''`, "=", address)
    .where("block_number", ">", contract.as_of ?? 0)
    .where("block_number", "<=", to)
    .execute();
  await deleteHistory(trx, replaced, counters);
  await applyMoves(trx, { entries, wallets }, counters);
  await counters.flush(trx);
  if (isUpToDate) {
    await listHoldings(trx, "contract", [address]);
    await noteForeignChange(trx);
  }
  return { ...contract, ...state };
}

/** Stores what an adopted contract tells about itself now; null: it tells nothing. It is asked again later. */
export async function recordAdopted(
  trx: Trx,
  contract: ForeignContractRow,
  known: Pick<AdoptedContract, "owner" | "totalSupply"> | null,
  now: number,
): Promise<void> {
  await changeLeased(trx, contract, { due_at: now + ASK_AGAIN });
  await listHoldings(trx, "contract", [contract.address]);
  if (known === null) return;
  await trx
    .updateTable("collections")
    .set({ owner: known.owner, total_supply: known.totalSupply })
    .where("address", "=", contract.address)
    .where("adopted", "=", 1)
    .execute();
}
