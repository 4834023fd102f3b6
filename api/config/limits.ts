/** Longest texts, in characters, and most entries of `attributes`. A URI can be a `data:` URI. */
export const MAX_NAME_LENGTH = 256;
export const MAX_SYMBOL_LENGTH = 32;
export const MAX_DESCRIPTION_LENGTH = 10_000;
export const MAX_URI_LENGTH = 2_048;
export const MAX_USER_IDENTIFIER_LENGTH = 256;
export const MAX_ATTRIBUTES = 200;
/** Largest metadata of one token or one collection, in bytes of the stored JSON in UTF-8, when it is accepted. */
export const MAX_METADATA_BYTES = 65_536;
/** Largest `unlockable_content`, in bytes of UTF-8. */
export const MAX_UNLOCKABLE_BYTES = 65_536;
/** Largest request body, in bytes, and the largest of a batch: 1,000 items then have 8 KiB each on average. */
export const MAX_BODY_BYTES = 1_048_576;
export const MAX_BATCH_BYTES = 8_388_608;
/** Gas limit of one call that reads a contract of others. */
export const FOREIGN_CALL_GAS = 100_000;
/**
 * Gas limit of one call that asks an adopted contract for a URI: some contracts make the whole picture in it. Nodes refuse more than
 * a transaction may have (EIP-7825).
 */
export const RESCUE_CALL_GAS = 16_000_000;

/** Moves of an adopted contract that are read without a pause. One that has more is quarantined in between. */
export const MOST_ADOPTED_MOVES = 5_000_000;
/** Most bytes of a signature of such a permission: a contract may take one of many signers. */
export const MAX_SIGNATURE_BYTES = 8_192;
/** Longest time for which the permission to adopt a contract is valid, in seconds. */
export const LONGEST_PERMISSION = 7 * 86_400;

/** Movements of an app's collections by strangers that become events, in 500 blocks. */
export const MOST_STRANGER_MOVES = 20_000;

/** Limits that settings change (`variables.ts` has their meaning), and others that tests lower. */
export const DEFAULT_LIMITS = {
  ratePerMinute: 600,
  batchItemsPerMinute: 60_000,
  publicRatePerMinute: 6_000,
  connections: 10_000,
  callBytes: 134_217_728,
  backlog: 100_000,
  itemGas: 1_000_000,
  contracts: 100,
  foreignLogs: 10_000,
  simulationSeconds: 2,
  mediaBytes: 104_857_600,
  freeDiskBytes: 268_435_456,
  /** Seconds for the download of a file that `copy_media` copies. */
  mediaSeconds: 60,
  /** Background reads per minute for one app. Each reads a wallet's tokens of a contract of others from the chain. */
  contractReads: 60,
  /** Requests of one app that wait for their media. Above it, such calls of the app get 503 `unavailable`. */
  mediaBacklog: 10_000,
  /** Calls of all apps that wait for the transaction that stores them, and the seconds for which each waits. */
  waitingCalls: 10_000,
  waitSeconds: 30,
  /** Connections of one address. Proxies in TRUST_PROXY may have more. */
  addressConnections: 1_000,
  /** Event streams that are open, and those of one app. */
  eventStreams: 1_000,
  appEventStreams: 50,
  /** Bytes of an export. The temporary files of a process together have at most twice as many. */
  exportBytes: 536_870_912,
  /**
   * Seconds in which the rows of an export are read. Meanwhile the database keeps a snapshot, and nothing moves on the connection,
   * which the server closes some time after the longest wait for a place.
   */
  exportSeconds: 45,
};

export type Limits = Record<keyof typeof DEFAULT_LIMITS, number>;

/**
 * Uploads at the same time in one process: those that the apps share, those of one app, and those of all apps. Each keeps a
 * few MiB in memory.
 */
export const UPLOADS = { shared: 32, ofApp: 16, most: 48 } as const;
/** Bytes of all texts of a collection: the most code of a contract (EIP-170), without the clone's own code and other arguments. */
export const MAX_COLLECTION_TEXTS = 24_400;
/** The part of MAX_BACKLOG that no app can use up alone. */
export const BACKLOG_RESERVE = 0.2;
/** Most values in a JSON body (fields, entries, objects and arrays), and its deepest nesting: they bound its memory and time. */
export const MAX_JSON_VALUES = 200_000;
export const MAX_JSON_DEPTH = 64;
/** Most items of a batch. */
export const MAX_BATCH_ITEMS = 1_000;
/** Most entries in `errors` of an item of a batch: the answer is stored under the idempotency key. */
export const MAX_BATCH_ITEM_ERRORS = 10;
/** Characters of errors in the answer to a batch, above which each further item lists one field only. */
export const BATCH_ERRORS_LENGTH = 262_144;
/** Seconds in which a JSON body must arrive. */
export const BODY_SECONDS = 30;
/** Seconds in which the next part of an uploaded file must arrive. */
export const CHUNK_SECONDS = 30;
/** Largest request body of an endpoint that needs no token, in bytes: strangers must not cost more. */
export const PUBLIC_BODY_BYTES = 4_096;
/** How many batches a process handles at a time, from reading the body on: each takes memory. The others wait. */
export const BATCHES_AT_ONCE = { shared: 4, ofApp: 1, most: 8 };
/** How many batches wait in a process. Further ones are refused. */
export const WAITING_BATCHES = { shared: 240, ofApp: 30, most: 480 };
/**
 * How many calls that read (`GET`) a process handles at a time; with long answers, fewer (`Gate`). Light calls that begin together
 * share look-ups and turns of the event loop, so fewer of them at a time would be slower.
 */
export const READS_AT_ONCE = { shared: 32, ofApp: 16, most: 64 };
/** How many such calls wait in a process. Further ones are refused. */
export const WAITING_READS = { shared: 4_000, ofApp: 2_000, most: 5_000 };
/** Most receivers that one call checks. */
export const MAX_CHECKED_RECEIVERS = 100;
/**
 * How many checks of receivers a process handles at a time. The node runs code that strangers wrote for them, and an app pays
 * nothing: so it has one after the other.
 */
export const CHECKS_AT_ONCE = { shared: 4, ofApp: 1, most: 8 };
/** How many such calls wait in a process. Further ones are refused. */
export const WAITING_CHECKS = { shared: 60, ofApp: 10, most: 120 };
/**
 * Exports at the same time in one process, from the first row that is read until the caller has the last one: one of an app, and
 * two of all apps.
 */
export const EXPORTS_AT_ONCE = { shared: 2, ofApp: 1, most: 2 };
/** How many exports wait in a process. Further ones are refused. */
export const WAITING_EXPORTS = { shared: 20, ofApp: 4, most: 40 };
/** Time to take an export: the seconds that each gets, and the bytes for each of which there is one second more. */
export const EXPORT_TAKEN = { seconds: 60, bytesPerSecond: 262_144 };
/** Most items on a page, and the default. */
export const MAX_PAGE = 30;
/** Most items on a page of a list whose items are small, if the caller asks for them. */
export const MAX_LONG_PAGE = 200;
/** Most bytes of a page in JSON. A page with more ends early, after at least one item. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Most bytes of the headers of a request, its URL included. */
export const MAX_HEADER_BYTES = 16_384;
/** Longest cursor of a listing, in characters. */
export const MAX_CURSOR_LENGTH = 128;
/** Most days after which a token that a console session creates expires. */
export const MAX_TOKEN_DAYS = 3_650;
/** Highest rate limit of a token, in calls a minute. */
export const MAX_TOKEN_RATE = 1_000_000;
/** Most webhooks of an app, collections that one of them chooses, and characters of its description. */
export const MAX_WEBHOOKS = 10;
export const MAX_WEBHOOK_COLLECTIONS = 100;
export const MAX_WEBHOOK_DESCRIPTION = 256;
/** Most characters of an app's name. */
export const MAX_APP_NAME = 100;
/** Most characters of a token's name. */
export const MAX_TOKEN_NAME = 100;
/** Most days of usage in one answer. */
export const MAX_USAGE_DAYS = 366;
/** Most items that `offset` skips: the database walks over each of them. A cursor reads on from there at no extra cost. */
export const MAX_OFFSET = 10_000;
/** Seconds in which a call's contracts of others are read from the chain. What was not read by then is `unavailable`. */
export const FOREIGN_READ_SECONDS = 20;
/** Longest `reference` of a request, in characters: at most 1,024 bytes. Fixed, because PostgreSQL limits what an index holds. */
export const MAX_REFERENCE_LENGTH = 256;
/** Royalties are in basis points: 1/10,000 of the price. */
export const MAX_BASIS_POINTS = 10_000;
/** Deepest nesting in `attributes`: it bounds the recursion of code that reads them. */
export const MAX_ATTRIBUTE_DEPTH = 16;
