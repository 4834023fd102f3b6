import { readCollectionOwners } from "../../chain/reads.ts";
import { readHoldings } from "../../chain/foreign.ts";
import {
  compareCollection,
  compareCounters,
  compareHistory,
  compareHoldings,
  compareTokens,
  type Difference,
  foreignHoldings,
  setForeignHolding,
} from "../../store/reconcile/compare.ts";
import { readIndexedContracts } from "../../store/ledger/indexed-contracts.ts";
import type { ReconcileDeps, RunLease } from "./run.ts";
import { Replay } from "./replay.ts";

/** Holdings of foreign contracts in one page. */
const PAGE = 500;
/** Collections whose owners are asked for at once. */
const OWNERS = 100;
/** Differences listed one by one. Further ones are only counted. */
const LISTED = 1_000;

export interface Comparison {
  /** The last compared block. */
  block: number;
  differences: number;
  /** The first differences. */
  told: Difference[];
}

/** Reads the whole chain again, compares it with the database and, with `repair`, repairs the differences. */
export async function compareWithChain(
  deps: ReconcileDeps,
  run: RunLease,
  repair: boolean,
): Promise<Comparison & { from: number }> {
  return Replay.run(deps, run, async (replay) => {
    const result: Comparison = { block: 0, differences: 0, told: [] };
    const add = (differences: Difference[]) => {
      result.differences += differences.length;
      result.told.push(...differences.slice(0, Math.max(0, LISTED - result.told.length)));
    };
    // Read up to the checkpoint first, so that the comparisons below start at the same block as the database.
    await replay.compare(() => Promise.resolve());
    const addresses = [...(await readIndexedContracts(deps.database.read)).collections.keys()];
    for (let start = 0; start < addresses.length; start += OWNERS) {
      await compareCollections(deps, replay, addresses.slice(start, start + OWNERS), { repair, add });
    }
    add(await replay.compare((trx) => compareHistory(trx, replay.chain, repair)));
    add(await compareForeign(deps, replay, repair));
    // Totals count the rows, so comparing them makes sense only when the rows are right.
    if (repair || result.differences === 0) add(await replay.compare((trx) => compareCounters(trx, repair)));
    return { ...result, block: replay.block, from: replay.from };
  });
}

/** Each collection has a transaction of its own, so that the running service never waits long. */
async function compareCollections(
  deps: ReconcileDeps,
  replay: Replay,
  addresses: readonly string[],
  { repair, add }: { repair: boolean; add: (differences: Difference[]) => void },
): Promise<void> {
  let left = addresses;
  while (left.length > 0) {
    const { block } = replay;
    const owners = await readCollectionOwners(deps.client, left, block);
    const begun = left;
    for (const [index, address] of begun.entries()) {
      const found = await replay.compare(async (trx, now) => {
        // The indexer advanced meanwhile: the owners are read again at the new block.
        if (now !== block) return null;
        return [
          ...(await compareCollection(trx, replay.chain, address, owners[index] ?? null, repair)),
          ...(await compareTokens(trx, replay.chain, address, repair)),
          ...(await compareHoldings(trx, replay.chain, address, repair)),
        ];
      });
      if (found === null) break;
      add(found);
      left = begun.slice(index + 1);
    }
  }
}

async function compareForeign(deps: ReconcileDeps, replay: Replay, repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  let after = 0;
  for (;;) {
    const page = await foreignHoldings(deps.database.read, after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return differences;
    after = last.seq;
    const { block } = replay;
    const held = await readHoldings(deps.client, page, { gas: deps.foreignCallGas, block });
    const wrong = page.flatMap((holding, index) => {
      const real = held[index];
      return real === undefined || real === "failed" || (real ?? 0n).toString() === holding.quantity
        ? []
        : [{ holding, real: real ?? 0n }];
    });
    if (wrong.length === 0) continue;
    const asked = await replay.compare(async (trx, now) => {
      if (now !== block) return false;
      for (const { holding, real } of wrong) if (repair) await setForeignHolding(trx, holding, real, block);
      return true;
    });
    // The indexer advanced meanwhile: compare the same page again at the new block.
    if (!asked) after = (page[0]?.seq ?? 1) - 1;
    else {
      differences.push(
        ...wrong.map(({ holding, real }) => ({
          what: `copies of token ${holding.tokenId} of the foreign contract ${holding.contract} held by ${holding.owner}`,
          stored: holding.quantity,
          chain: real.toString(),
        })),
      );
    }
  }
}
