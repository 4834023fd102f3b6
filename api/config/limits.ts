/** One configurable limit: its variable, its default, its highest value, and its description for the documentation. */
export interface LimitSetting {
  variable: string;
  default: number;
  /** By default 2^31 - 1. */
  most?: number;
  description: string;
}

/** The longest timer of Node, in seconds. A longer one would fire at once. */
const LONGEST_TIMER = Math.floor((2 ** 31 - 1) / 1_000);

/** Limits that no setting changes. Texts are counted in characters. */
export const FIXED_LIMITS = {
  /** Largest request body. Batches have their own limit: 1,000 items then have 8 KiB each on average. */
  bodyBytes: 1_048_576,
  batchBytes: 8_388_608,
  name: 256,
  symbol: 32,
  description: 10_000,
  /** `data:` URIs included. */
  uri: 2_048,
  attributes: 200,
  unlockableBytes: 65_536,
  userIdentifier: 256,
} as const;

/** The limits that settings change. */
export const LIMIT_SETTINGS = {
  metadataBytes: {
    variable: "MAX_METADATA_BYTES",
    default: 65_536,
    description:
      "Largest metadata of one token or one collection, in bytes of the stored JSON in UTF-8, when it is accepted. Metadata that is stored already stays as it is.",
  },
  mediaBytes: {
    variable: "MAX_MEDIA_BYTES",
    default: 104_857_600,
    description: "Largest file that is uploaded or that `copy_media` copies, in bytes.",
  },
  freeDiskBytes: {
    variable: "MIN_FREE_DISK_BYTES",
    default: 268_435_456,
    description:
      "Bytes of the disk of `DATA_DIR` that uploads and copied media leave free, for the database and the logs. With less, an upload gets 503 `unavailable`, and media are copied later.",
  },
  mediaSeconds: {
    variable: "MEDIA_SECONDS",
    default: 60,
    most: LONGEST_TIMER,
    description: "Timeout for the download of a file that `copy_media` copies, in seconds.",
  },
  itemGas: {
    variable: "MAX_ITEM_GAS",
    default: 1_000_000,
    description: "Gas limit of one request on chain.",
  },
  contracts: {
    variable: "MAX_FOLLOWED_CONTRACTS",
    default: 100,
    description: "Most contracts of others that one app may follow.",
  },
  contractReads: {
    variable: "CONTRACT_READS_PER_MINUTE",
    default: 60,
    description:
      "Most background reads per minute for one app. Each reads a wallet's tokens of a contract of others from the chain.",
  },
  foreignCallGas: {
    variable: "FOREIGN_CALL_GAS",
    default: 100_000,
    description: "Gas limit of one call that reads a contract of others.",
  },
  foreignLogs: {
    variable: "MAX_FOREIGN_LOGS",
    default: 10_000,
    description:
      "Most moves of tokens that a followed contract reports in 500 blocks, also in one block or one log: a batch event counts once for each id that it names. A contract with more is quarantined.",
  },
  simulationSeconds: {
    variable: "SIMULATION_SECONDS",
    default: 2,
    most: LONGEST_TIMER,
    description:
      "Seconds for the simulations of one batch. A request whose receiver's code takes longer is simulated alone and sent later, while the others are sent.",
  },
  backlog: {
    variable: "MAX_BACKLOG",
    default: 100_000,
    description:
      "Most accepted requests of all apps that are not final yet, without those that wait for media. Above it, calls that write get 503 `unavailable`. The last fifth is shared: an app gets this answer as soon as it has at least as many requests as places are left.",
  },
  mediaBacklog: {
    variable: "MAX_MEDIA_BACKLOG",
    default: 10_000,
    description:
      "Most accepted requests of one app that wait for their media (`copy_media`, freezing). Above it, such calls of this app get 503 `unavailable`.",
  },
  waitingCalls: {
    variable: "MAX_WAITING_CALLS",
    default: 10_000,
    description:
      "Most calls of all apps that wait in a process for the transaction that stores them (mints, transfers, new collections, changes of metadata). An app gets 503 `unavailable` as soon as it has at least as many of them as places are left. The last fifth is kept for apps without such a call.",
  },
  waitSeconds: {
    variable: "MAX_WAIT_SECONDS",
    default: 30,
    most: LONGEST_TIMER,
    description:
      "Seconds for which a call that writes waits for its transaction, and a batch for its turn. After that it gets 503 `unavailable`, and nothing of it is stored. A call whose transaction has begun is answered with the result.",
  },
  ratePerMinute: {
    variable: "RATE_LIMIT_PER_MINUTE",
    default: 600,
    description:
      "Most calls per minute of one app, by all its tokens and sessions together (a token may have a lower limit), of one session of the operator, and without a valid token from one address. Several API processes together let through less than a quarter more.",
  },
  batchItemsPerMinute: {
    variable: "BATCH_ITEMS_PER_MINUTE",
    default: 60_000,
    description:
      "Most items per minute in the batches of one app. Above it, a batch gets 429 `rate_limited`; one with more items than this is refused with 422. Several API processes together let through less than a quarter more.",
  },
  publicRatePerMinute: {
    variable: "PUBLIC_RATE_LIMIT_PER_MINUTE",
    default: 6_000,
    description:
      "Most calls per minute of one address to what needs no token: `/`, `/ipfs`, `/metadata`, `/docs`, `/openapi.json`, `/console` and signing in. Marketplaces read many tokens in a short time. Behind a proxy, set `TRUST_PROXY`: without it all callers share the proxy's address.",
  },
  connections: {
    variable: "MAX_CONNECTIONS",
    default: 10_000,
    description:
      "Most connections to the API of a process, event streams included. Above it, new connections are closed. Each needs a file descriptor.",
  },
  addressConnections: {
    variable: "MAX_ADDRESS_CONNECTIONS",
    default: 1_000,
    description:
      "Most connections of one address. Above it, new ones get 503 `unavailable` and are closed. Proxies in `TRUST_PROXY` may have more.",
  },
  callBytes: {
    variable: "MAX_CALL_BYTES",
    default: 134_217_728,
    description:
      "Most bytes that calls in flight hold in a process: JSON bodies, by their declared length, and answers that are not read yet. Above it, an app with such a call gets 503 `unavailable`, and so does each app as soon as it holds as many bytes as are left. Callers without a token share as many bytes of their own.",
  },
  eventStreams: {
    variable: "MAX_EVENT_STREAMS",
    default: 1_000,
    description: "Most event streams that an API process keeps open. Above it, a further one gets 503 `unavailable`.",
  },
  appEventStreams: {
    variable: "MAX_APP_EVENT_STREAMS",
    default: 50,
    description:
      "Most event streams of one app that an API process keeps open. Above it, a further one gets 429 `rate_limited`.",
  },
} as const satisfies Record<string, LimitSetting>;

export type Limits = Record<keyof typeof FIXED_LIMITS | keyof typeof LIMIT_SETTINGS, number>;

export const DEFAULT_LIMITS: Limits = {
  ...FIXED_LIMITS,
  ...(Object.fromEntries(Object.entries(LIMIT_SETTINGS).map(([name, setting]) => [name, setting.default])) as Record<
    keyof typeof LIMIT_SETTINGS,
    number
  >),
};

/**
 * Uploads at the same time in one process: those that the apps share, those of one app, and those of all apps. Each keeps a
 * few MiB in memory.
 */
export const UPLOADS = { shared: 16, ofApp: 8, most: 48 } as const;
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
 * How many calls that read (`GET`) a process handles at a time. A page of 4 MiB keeps the process busy for some tenths of a
 * second; the calls of other apps must not wait for hundreds of them.
 */
export const READS_AT_ONCE = { shared: 16, ofApp: 8, most: 64 };
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
/** Most items on a page, and the default. */
export const MAX_PAGE = 30;
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
