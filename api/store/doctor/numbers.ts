import { pagesAfter } from "../db/pages.ts";
import type { Db } from "../db/sql.ts";

/** The number of a request. */
export interface RequestNumber {
  seq: number;
  id: string;
  number: bigint;
  /** `executed`: final, with a block. `unsent`: it failed before it was sent. `unsigned`: it is in no signed transaction yet. */
  state: "executed" | "unsent" | "unsigned";
}

const PAGE = 1_000;

/** Requests whose state says whether the relay has consumed their number, newest first. Those in an open transaction are left out. */
export async function* requestNumbers(db: Db): AsyncGenerator<RequestNumber[]> {
  const read = (below: number) =>
    db
      .selectFrom("requests")
      .select(["seq", "id", "number", "status", "block_number", "transaction_hash", "batch_id"])
      .where("number", "is not", null)
      .where("seq", "<", below)
      .$narrowType<{ number: string }>()
      .orderBy("seq", "desc")
      .limit(PAGE)
      .execute();
  for await (const page of pagesAfter(Number.MAX_SAFE_INTEGER, read, ({ seq }) => seq)) {
    yield page.flatMap((row) => {
      const state = stateOf(row);
      return state === null ? [] : [{ seq: row.seq, id: row.id, number: BigInt(row.number), state }];
    });
    // To find that nothing follows can take as long as reading the whole table.
    if (page.length < PAGE) return;
  }
}

function stateOf(row: {
  status: string;
  block_number: number | null;
  transaction_hash: string | null;
  batch_id: number | null;
}): RequestNumber["state"] | null {
  if (row.status === "pending") return row.batch_id === null ? "unsigned" : null;
  if (row.status !== "completed" && row.status !== "failed") return null;
  if (row.block_number !== null) return "executed";
  return row.status === "failed" && row.transaction_hash === null ? "unsent" : null;
}

/** Those of these requests that still are in no signed transaction. */
export async function stillUnsigned(db: Db, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("requests")
    .select("id")
    .where("id", "in", ids)
    .where("status", "=", "pending")
    .where("batch_id", "is", null)
    .execute();
  return rows.map((row) => row.id);
}
