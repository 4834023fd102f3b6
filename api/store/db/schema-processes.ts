import type { ParkedKind } from "../../domain/conditions.ts";

/** The tables that several processes of one installation share. The conventions are those of `Tables`. */
export interface ProcessTables {
  leases: LeasesTable;
  processes: ProcessesTable;
  rate_counts: RateCountsTable;
  parked_rows: ParkedRowsTable;
}

/** Work that one process does at a time. A lane has its lease in `lanes`. */
interface LeasesTable {
  name: string;
  holder: string | null;
  /** Fencing token: grows with every new holder. A write with an older one is refused. */
  fence: number;
  until: number;
  /** When the work was done last; null: never, or it has no end. */
  done_at: number | null;
}

/** The running processes. `other` has neither of the two roles whose processes share something. */
interface ProcessesTable {
  /** As the holder of a lease. */
  id: string;
  role: "api" | "relayer" | "other";
  /** The process renews it. Later than this, the process counts as dead. */
  until: number;
}

/** Calls of the rate limits, counted over all API processes. Empty while there is only one. */
interface RateCountsTable {
  /** `token:<id>` or `address:<address>`. */
  key: string;
  /** Calls in the window. */
  used: number;
  /** End of the window. */
  ends_at: number;
}

/** Rows on which the work of a worker always fails. The worker leaves each of them alone until it tries it again. */
export interface ParkedRowsTable {
  kind: ParkedKind;
  /** The row's id: of a request, of a delivery, or a CID. Of an old row: its table and its key. */
  id: string;
  /** The error of the last try. */
  reason: string;
  /** Tries that failed. */
  tries: number;
  since: number;
  /** When it is tried again. */
  next_at: number;
}
