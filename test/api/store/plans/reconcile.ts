import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openDatabase } from "../../../../api/store/db/database.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import {
  adoptBatch,
  batchAt,
  closeVanished,
  emptyReplaced,
  failUncertain,
  type LostBatch,
  moveLane,
  numbersAmong,
  perhapsSent,
  replacedBatch,
  vanishedBatches,
} from "../../../../api/store/reconcile/adopt-lost-batches.ts";
import {
  compareCollection,
  compareCounters,
  compareHistory,
  compareHoldings,
  compareTokens,
  foreignHoldings,
  formerHoldings,
  setHolding,
} from "../../../../api/store/reconcile/compare.ts";
import { giveCollections, recoveredCollections, skipFeeds } from "../../../../api/store/reconcile/recovered-app.ts";
import { Scratch } from "../../../../api/store/reconcile/scratch.ts";
import { rangeOf } from "../../support/ranges.ts";
import { addApp, addCollection, mintOf } from "../../support/rows.ts";
import { BUSY, LARGE } from "../support/large-database.ts";
import { NOW, type Tour } from "./tour.ts";

export async function runReconcile(tour: Tour): Promise<void> {
  await compare(tour);
  await adopt(tour);
  await replay();
}

/** Damages a few rows and compares them with the rows as another connection still sees them. */
async function compare({ read, write }: Tour): Promise<void> {
  const { collection, app } = BUSY;
  await write(async (trx) => {
    await damage(trx);
    await compareCollection(trx, read, collection, "another", true);
    await compareTokens(trx, read, collection, true);
    await compareHoldings(trx, read, collection, true);
    await compareHistory(trx, read, true);
    await compareCounters(trx, true);
  });
  await formerHoldings(read, 0, 500);
  const [held] = await foreignHoldings(read, 0, 500);
  if (held !== undefined) await write((trx) => setHolding(trx, held, 2n, LARGE));
  await write((trx) => skipFeeds(trx));
  await recoveredCollections(read);
  await write((trx) => giveCollections(trx, app));
}

async function damage(trx: Trx): Promise<void> {
  const { collection: contract } = BUSY;
  const extra = { request_id: null, token_uri: null, metadata: null, minted_block: 1, minted_at: 1, supply: "1" };
  await trx.deleteFrom("nfts").where("contract", "=", contract).where("token_id", "=", "10").execute();
  await trx
    .updateTable("nfts")
    .set({ supply: "2" })
    .where("contract", "=", contract)
    .where("token_id", "=", "12")
    .execute();
  for (const [token_id, reserved] of [
    ["extra-1", "0"],
    ["extra-2", "1"],
  ] as const)
    await trx
      .insertInto("nfts")
      .values({ contract, token_id, reserved, ...extra })
      .execute();
  await trx
    .updateTable("holdings")
    .set({ quantity: "2" })
    .where("contract", "=", contract)
    .where("token_id", "=", "12")
    .execute();
  await trx.updateTable("transfers").set({ quantity: "2" }).where("block_number", "=", LARGE).execute();
}

/** Transactions that the database does not know: after a restored backup. */
async function adopt({ read, write }: Tour): Promise<void> {
  const attempt = { raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasLimit: 1n };
  const mint = mintOf(BUSY.collection, BUSY.wallet);
  const create = {
    kind: "create-erc1155",
    collection: BUSY.editions,
    to: BUSY.wallet,
    tokenId: "77",
    quantity: "1",
    uri: null,
    metadata: null,
  } as const;
  await write((trx) =>
    trx
      .updateTable("requests")
      .set({
        number: null,
        command: JSON.stringify(create),
        nft_collection: create.collection,
        nft_token_id: create.tokenId,
      })
      .where("id", "=", "request-9")
      .execute(),
  );
  const batch: LostBatch = {
    lane: 5,
    address: "lane-5",
    nonce: 0,
    attempt: { hash: "lost-1", ...attempt },
    calls: [
      { number: 7n, command: mint, happened: true },
      { number: 2_000_000_000n, command: mint, happened: true },
      { number: 2_000_000_001n, command: create, happened: true },
    ],
  };
  await write((trx) => moveLane(trx, { lane: 5, address: "lane-5" }, 3));
  await write((trx) => adoptBatch(trx, batch, NOW));
  await write((trx) => adoptBatch(trx, { ...batch, attempt: { hash: "lost-2", ...attempt } }, NOW));
  await numbersAmong(read, [7n, 8n]);
  const [uncertain] = await perhapsSent(read, [1, 2]);
  if (uncertain !== undefined) await write((trx) => failUncertain(trx, [uncertain], NOW));
  await vanishedBatches(read, 5, 3);
  await replacedBatch(read, { ...batch, calls: [] });
  const id = await batchAt(read, 5, 0);
  if (id !== undefined) await write((trx) => closeVanished(trx, id, LARGE, NOW));
  if (id !== undefined) await write((trx) => emptyReplaced(trx, id, LARGE, NOW));
  await write((trx) => adoptBatch(trx, batch, NOW));
}

/** The chain is read again into a database of its own. */
async function replay(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "moneta-plans-"));
  const database = await openDatabase(`file:${join(folder, "small.sqlite")}`);
  const scratch = await Scratch.open(join(folder, "scratch.sqlite"), "run", 0);
  try {
    await addApp(database);
    await addCollection(database);
    await scratch.copyCollections(database.read);
    await scratch.apply(rangeOf({ block: 1 }));
  } finally {
    await scratch.close();
    await database.close();
    rmSync(folder, { recursive: true });
  }
}
