import { pagesAfter } from "../db/pages.ts";
import type { Db } from "../db/sql.ts";

/** A request and its number. */
export interface RequestNumber {
  seq: number;
  id: string;
  number: bigint;
}

const PAGE = 1_000;

type Pages = AsyncGenerator<RequestNumber[]>;

function toNumbered(row: { seq: number; id: string; number: string }): RequestNumber {
  return { ...row, number: BigInt(row.number) };
}

/** Final requests with a block: the relay has consumed their numbers. Newest first. */
export function executedRequests(db: Db): Pages {
  return newestFirst((below) =>
    numbered(db, below).where("status", "in", ["completed", "failed"]).where("block_number", "is not", null),
  );
}

/** Requests that failed before they were sent: the relay cannot have consumed their numbers. Newest first. */
export function failedUnsent(db: Db): Pages {
  return newestFirst((below) =>
    numbered(db, below)
      .where("status", "=", "failed")
      .where("block_number", "is", null)
      .where("transaction_hash", "is", null),
  );
}

/** Requests that have a number but are in no signed transaction. */
export async function* unsignedRequests(db: Db): Pages {
  const pending = db
    .selectFrom("requests")
    .select(["seq", "id", "number"])
    .where("number", "is not", null)
    .where("status", "=", "pending")
    .$narrowType<{ number: string }>();
  // Two searches, each with an index of its own.
  const ready = await pending.where("ready_at", "is not", null).execute();
  const claimed = await pending.where("lane", "is not", null).where("batch_id", "is", null).execute();
  const found = [...ready, ...claimed];
  for (let start = 0; start < found.length; start += PAGE) yield found.slice(start, start + PAGE).map(toNumbered);
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

function numbered(db: Db, below: number) {
  return db
    .selectFrom("requests")
    .select(["seq", "id", "number"])
    .where("number", "is not", null)
    .where("seq", "<", below)
    .$narrowType<{ number: string }>()
    .orderBy("seq", "desc")
    .limit(PAGE);
}

async function* newestFirst(
  query: (below: number) => { execute(): Promise<{ seq: number; id: string; number: string }[]> },
): Pages {
  const read = (below: number) => query(below).execute();
  for await (const page of pagesAfter(Number.MAX_SAFE_INTEGER, read, ({ seq }) => seq)) {
    yield page.map(toNumbered);
    // To find that nothing follows can take as long as reading the whole table.
    if (page.length < PAGE) return;
  }
}
