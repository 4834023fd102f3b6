import { recordBatch } from "../../../../api/store/sending/batches.ts";
import { claimRequests, type ClaimedRequest } from "../../../../api/store/sending/claims.ts";
import { counterKeys } from "../../../../api/store/db/counters.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { ensureLane, takeLease } from "../../../../api/store/sending/lanes.ts";
import { hashOf, requestRow } from "./rows.ts";

/** What the chain has brought about, without row numbers and times, and without totals of nothing. */
export async function contents(database: Database) {
  const { read } = database;
  return {
    nfts: await read
      .selectFrom("nfts")
      .select(["contract", "token_id", "request_id", "supply", "reserved", "token_uri", "metadata", "minted_block"])
      .orderBy("contract")
      .orderBy("token_id")
      .execute(),
    holdings: await read
      .selectFrom("holdings")
      .select(["contract", "token_id", "owner", "quantity", "reserved"])
      .orderBy("contract")
      .orderBy("token_id")
      .orderBy("owner")
      .execute(),
    transfers: await read
      .selectFrom("transfers")
      .select(["id", "contract", "token_id", "type", "quantity"])
      .orderBy("id")
      .execute(),
    history: await read.selectFrom("wallet_history").selectAll().orderBy("transfer_id").orderBy("wallet").execute(),
    collections: await read
      .selectFrom("collections")
      .select(["address", "minted", "reserved", "owner", "max_supply", "base_uri", "service_may_mint", "listed"])
      .orderBy("address")
      .execute(),
    counters: await read.selectFrom("counters").selectAll().where("value", "<>", 0).orderBy("key").execute(),
    checkpoint: (await read.selectFrom("meta").selectAll().where("key", "=", "checkpoint").execute())[0]?.value,
  };
}

/** Totals that are not what a count of the rows gives: none, ever. */
export async function countedTotals(database: Database): Promise<string[]> {
  const { read } = database;
  const counted = new Map<string, number>();
  const add = (key: string) => counted.set(key, (counted.get(key) ?? 0) + 1);
  for (const row of await read.selectFrom("holdings").selectAll().execute()) {
    add(counterKeys.holdings(row.owner));
    add(counterKeys.holdingsOfContract(row.owner, row.contract));
    add(counterKeys.owners(row.contract, row.token_id));
  }
  for (const row of await read.selectFrom("nfts").selectAll().execute()) {
    if (row.minted_block !== null && row.supply !== "0") add(counterKeys.nfts(row.contract));
  }
  for (const row of await read.selectFrom("transfers").selectAll().execute())
    add(counterKeys.tokenHistory(row.contract, row.token_id));
  for (const row of await read.selectFrom("wallet_history").selectAll().execute())
    add(counterKeys.walletHistory(row.wallet));
  for (const row of await read.selectFrom("requests").selectAll().execute())
    add(counterKeys.requests(row.app_id, row.status, row.type));
  for (const row of await read.selectFrom("deliveries").selectAll().execute()) add(counterKeys.deliveries(row.app_id));
  const stored = await read.selectFrom("counters").selectAll().execute();
  const kept = new Set(["holdings", "owners", "nfts", "history", "requests", "deliveries"]);
  const wrong = stored
    .filter((row) => kept.has(row.key.split(":")[0] ?? ""))
    .filter((row) => row.value !== (counted.get(row.key) ?? 0))
    .map((row) => `${row.key}: ${row.value.toString()}, counted ${(counted.get(row.key) ?? 0).toString()}`);
  const missing = [...counted.keys()].filter((key) => !stored.some((row) => row.key === key));
  return [...wrong, ...missing.map((key) => `${key}: missing`)];
}

let numbers = 0n;

/** Claims what is ready, and puts the named requests into a batch, as lane 0 would. */
export async function batchOf(
  database: Database,
  ids: string[],
): Promise<{ batchId: number; requests: ClaimedRequest[] }> {
  const address = hashOf("lane").slice(0, 42);
  await database.write((trx) => ensureLane(trx, 0, address, 0));
  const batchId = await database.write(async (trx) => {
    const lease = await takeLease(trx, 0, "test", { now: 1, lasts: 1 }, () => true);
    if (lease === null) throw new Error("the lane is free");
    const claimed = await claimRequests(trx, lease, {
      limit: 500,
      now: Number.MAX_SAFE_INTEGER,
      nextNumber: () => numbers++,
    });
    const requests = ids.map((id) => {
      const found = claimed.find((request) => request.id === id);
      if (found === undefined) throw new Error(`${id} was not ready`);
      return found;
    });
    const row = await trx.selectFrom("lanes").selectAll().where("lane", "=", 0).executeTakeFirstOrThrow();
    const hash = hashOf(`batch ${row.next_nonce.toString()}`);
    const attempt = { hash, raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasLimit: 1n };
    return (await recordBatch(trx, lease, { nonce: row.next_nonce, requests, attempt }, 1)).batchId;
  });
  const requests = await Promise.all(
    ids.map(async (id) => {
      const row = await requestRow(database, id);
      if (row.number === null) throw new Error("a claimed request has a number");
      return { ...row, number: row.number };
    }),
  );
  return { batchId, requests };
}
