import type { Generated } from "kysely";

/** The tables of the content that is hosted on IPFS. */
export interface MediaTables {
  media: MediaTable;
  media_jobs: MediaJobsTable;
  pins: PinsTable;
  announcements: AnnouncementsTable;
}

/** Files that the service hosts on IPFS. Their bytes are in the block store. */
interface MediaTable {
  /** CID version 1, base 32. */
  cid: string;
  /** Media type, detected from the first bytes. */
  type: string;
  size: number;
  created_at: number;
}

/** Requests that wait for content. The row is deleted when the content is there, or cannot be fetched. */
interface MediaJobsTable {
  seq: Generated<number>;
  request_id: string;
  app_id: string;
  /** When a process may take it: the next try, or the end of the lease. */
  due_at: number;
  /** Failed tries so far. */
  tries: number;
  /** Fencing token: grows with every holder. A write with an older one changes nothing. */
  fence: number;
  /** The process that works on it; null: none. */
  holder: string | null;
}

/** The pinning of hosted content at the operator's IPFS node, and the removal of pins. */
interface PinsTable {
  /** CID version 1, base 32, of a file or of a frozen directory. */
  cid: string;
  /** 1: the content is hosted and is pinned. 0: it is not hosted any more, and its pin is removed. */
  hosted: number;
  /** When a process may take it: the next try, or the end of the lease. null: it is pinned. */
  due_at: number | null;
  /** Failed tries so far. */
  tries: number;
  /** Fencing token: grows with every holder. A write with an older one changes nothing. */
  fence: number;
  /** Why the last try failed. */
  error: string | null;
  /** When it was stored, or stored again. */
  created_at: number;
}

/** Hosted content, and when it is announced on the IPFS network next. */
interface AnnouncementsTable {
  /** CID version 1, base 32, of a file or of a frozen directory. */
  cid: string;
  due_at: number;
}
