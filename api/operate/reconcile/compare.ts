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
  formerHoldings,
  setHolding,
} from "../../store/reconcile/compare.ts";
import { readIndexedContracts } from "../../store/ledger/indexed-contracts.ts";
import type { ReconcileDeps, Run } from "./run.ts";
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
  run: Run,
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
    while (addresses.length > 0) add(await compareCollections(deps, replay, addresses, repair));
    add(await replay.compare((trx) => compareHistory(trx, replay.chain, repair)));
    add(await compareForeign(deps, replay, repair));
    // Totals count the rows, so comparing them makes sense only when the rows are right.
    if (repair || result.differences === 0) add(await replay.compare((trx) => compareCounters(trx, repair)));
    return { ...result, block: replay.block, from: replay.from };
  });
}

/**
 * Compares the first collections, until the indexer advances: their owners were read at one block. Each has a transaction of its
 * own, so that the running service never waits long. @param left those that are done are removed.
 */
async function compareCollections(
  deps: ReconcileDeps,
  replay: Replay,
  left: string[],
  repair: boolean,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const { block, chain } = replay;
  for (const owner of await readCollectionOwners(deps.client, left.slice(0, OWNERS), block)) {
    const [address = ""] = left;
    const found = await replay.compare(async (trx, now) => {
      if (now !== block) return null;
      return [
        ...(await compareCollection(trx, chain, address, owner, repair)),
        ...(await compareTokens(trx, chain, address, repair)),
        ...(await compareHoldings(trx, chain, address, repair)),
      ];
    });
    if (found === null) break;
    differences.push(...found);
    left.shift();
  }
  return differences;
}

/** Balances that are stored, then those that are missing in adopted contracts. */
async function compareForeign(deps: ReconcileDeps, replay: Replay, repair: boolean): Promise<Difference[]> {
  const differences = new Map<string, Difference>();
  for (const read of [foreignHoldings, formerHoldings]) {
    for (let after = 0; ;) {
      const page = await read(deps.database.read, after, PAGE);
      if (page.length === 0) break;
      const { block } = replay;
      const asked = page.filter(({ owner }) => owner !== "");
      const held = await readHoldings(deps.client, asked, { gas: deps.foreignCallGas, block });
      const wrong = asked.flatMap((holding, index) => {
        const real = held[index];
        return real === undefined || real === "failed" || (real ?? 0n).toString() === holding.quantity
          ? []
          : [{ holding, real: real ?? 0n }];
      });
      const isSame =
        wrong.length === 0 ||
        (await replay.compare(async (trx, now) => {
          if (now !== block) return false;
          for (const { holding, real } of wrong) {
            // A contract may have been adopted meanwhile. Then its balances are gone, and come again from its logs.
            const [stored] = await read(trx, holding.seq - 1, 1);
            if (stored?.seq !== holding.seq || stored.owner !== holding.owner || stored.quantity !== holding.quantity)
              continue;
            if (repair) await setHolding(trx, holding, real, block);
            const what = `copies of token ${holding.tokenId} of the foreign contract ${holding.contract} held by ${holding.owner}`;
            differences.set(what, { what, stored: holding.quantity, chain: real.toString() });
          }
          return true;
        }));
      // The indexer advanced meanwhile: the same page is compared again at the new block.
      if (isSame) after = page.at(-1)?.seq ?? after;
    }
  }
  return [...differences.values()];
}
