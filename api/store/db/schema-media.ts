import type { Generated } from "kysely";

/** The tables of the content that is hosted on IPFS. */
export interface MediaTables {
  /** Files that the service hosts on IPFS. Their bytes are in the block store. */
  media: {
    /** CID version 1, base 32. */
    cid: string;
    /** Media type, detected from the first bytes. */
    type: string;
    size: number;
    created_at: number;
  };

  /** The files that an app has copied. Several apps may have copied the same file. */
  app_media: {
    cid: string;
    app_id: string;
    size: number;
  };

  /** Requests that wait for content. When the content is there, or cannot be fetched, a row of `media_results` replaces the row. */
  media_jobs: {
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
    /** Processes that died at it, since its work last ended: see `under-way.ts`. */
    crashes: Generated<number>;
  };

  /**
   * What became of media jobs, until the request is changed accordingly. Processes that copy media write it. They may not change the
   * requests themselves, so what they write here is checked.
   */
  media_results: {
    seq: Generated<number>;
    request_id: string;
    /** A `MediaResult`, JSON. */
    result: string;
  };

  /** Files that are not hosted any more and still count for their apps. */
  forgotten_media: {
    cid: string;
  };

  /** One row, which is only locked: while it is, `media_store` in `meta` does not change. */
  media_store_lock: {
    id: number;
  };

  /** The pinning of hosted content at the operator's IPFS node, and the removal of pins. */
  pins: {
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
  };

  /** Hosted content, and when it is announced on the IPFS network next. */
  announcements: {
    /** CID version 1, base 32, of a file or of a frozen directory. */
    cid: string;
    due_at: number;
  };

  /** Blocks whose bytes are in objects: rows of `media_bytes`, or objects in a bucket. */
  media_blocks: {
    /** The block store that has the object. */
    store: string;
    /** CID version 1, base 32. */
    cid: string;
    /** Name of the object with the bytes. Each upload has a name of its own. */
    object: string;
    size: number;
    /** When it was stored, or stored again. */
    stored_at: number;
    /** null: it can be read. Otherwise the id of the garbage collection that quarantines it, or `removed`. */
    quarantine: string | null;
  };

  /** The bytes of blocks that are stored in the database. */
  media_bytes: {
    object: string;
    bytes: Buffer;
  };

  /** Objects that no block names: uploads that are not recorded yet, and objects to be removed. */
  media_unused_objects: {
    store: string;
    object: string;
    /** 1: it is removed soon, and no block may name it any more. */
    doomed: number;
    created_at: number;
  };

  /** Garbage collections that have not confirmed their removals, at most one for each block store. */
  media_collections: {
    store: string;
    id: string;
  };
}
