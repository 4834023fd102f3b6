import { readCollectionOwner } from "../chain/collection-reads.ts";
import { readHoldings } from "../chain/foreign-contracts.ts";
import { compareCollection } from "../store/reconcile/compare-collections.ts";
import { compareCounters } from "../store/reconcile/compare-counters.ts";
import { compareHistory } from "../store/reconcile/compare-history.ts";
import { compareHoldings, compareTokens } from "../store/reconcile/compare-tokens.ts";
import type { Difference } from "../store/reconcile/difference.ts";
import { foreignHoldings, setForeignHolding } from "../store/reconcile/foreign-holdings.ts";
import { watchedContracts } from "../store/ledger/watched.ts";
import type { ReconcileDeps } from "./deps.ts";
import { Replay } from "./replay.ts";

/** Holdings of foreign contracts in one page. */
const PAGE = 500;
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
export async function compareWithChain(deps: ReconcileDeps, repair: boolean): Promise<Comparison> {
  return Replay.run(deps, async (replay) => {
    const result: Comparison = { block: 0, differences: 0, told: [] };
    const add = (differences: Difference[]) => {
      result.differences += differences.length;
      result.told.push(...differences.slice(0, Math.max(0, LISTED - result.told.length)));
    };
    // Read up to the checkpoint first, so that the comparisons below start at the same block as the database.
    await replay.compare(() => Promise.resolve());
    for (const address of (await watchedContracts(deps.database.read)).collections.keys()) {
      const owner = await readCollectionOwner(deps.client, address, replay.block);
      add(
        await replay.compare(async (trx) => [
          ...(await compareCollection(trx, replay.chain, address, owner, repair)),
          ...(await compareTokens(trx, replay.chain, address, repair)),
          ...(await compareHoldings(trx, replay.chain, address, repair)),
        ]),
      );
    }
    add(await replay.compare((trx) => compareHistory(trx, replay.chain, repair)));
    add(await compareForeign(deps, replay, repair));
    // Totals count the rows, so comparing them makes sense only when the rows are right.
    if (repair || result.differences === 0) add(await replay.compare((trx) => compareCounters(trx, repair)));
    return { ...result, block: replay.block };
  });
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
