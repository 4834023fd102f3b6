/** The tables of what is hosted on IPFS. */
export interface MediaTables {
  media: MediaTable;
  media_jobs: MediaJobsTable;
  pins: PinsTable;
  announcements: AnnouncementsTable;
}

/** Files that the service hosts on IPFS. The bytes are in the block store. */
interface MediaTable {
  /** CID version 1, base 32. */
  cid: string;
  /** Media type, told from the first bytes when the file arrived. */
  type: string;
  size: number;
  created_at: number;
}

/** Requests that wait for content to be fetched or made. Its row goes when the content is there, or cannot be had. */
interface MediaJobsTable {
  request_id: string;
  /** When somebody may take it; while it is worked on, when the lease of that process runs out. */
  due_at: number;
  /** Failed tries so far. */
  tries: number;
  /** Grows with every process that takes it; a write with an older fence changes nothing. */
  fence: number;
  /** Who took it last; null: nobody works on it. */
  holder: string | null;
}

/** Hosted content, as far as the operator's IPFS node keeps it too. */
interface PinsTable {
  /** CID version 1, base 32, of a file or of a frozen directory. */
  cid: string;
  /** When somebody may hand it over; while that is under way, when the lease of that process runs out; null: it is pinned. */
  due_at: number | null;
  /** Failed tries so far. */
  tries: number;
  /** Grows with every process that takes it; a write with an older fence changes nothing. */
  fence: number;
  /** Why the last try failed. */
  error: string | null;
  /** When it became hosted, or did so again. */
  created_at: number;
}

/** Hosted content, and when the IPFS network is told of it, for the first time or again. */
interface AnnouncementsTable {
  /** CID version 1, base 32, of a file or of a frozen directory. */
  cid: string;
  due_at: number;
}
