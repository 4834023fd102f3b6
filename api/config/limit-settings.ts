import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { quotas, wholeNumber } from "./parsers.ts";

/** The longest timer of Node, in seconds. A longer one would fire at once. */
const LONGEST_TIMER = Math.floor((2 ** 31 - 1) / 1_000);

/** @param limit the limit that the setting changes. */
function setting(limit: keyof Limits, description: string, most = 2 ** 31 - 1) {
  return { limit, schema: wholeNumber(1, most), fallback: DEFAULT_LIMITS[limit].toString(), description };
}

/** Limits of one app, of one address and of the service. The others are constants: see limits.ts. */
export const LIMITS = {
  RATE_LIMIT_PER_MINUTE: setting(
    "ratePerMinute",
    "Most calls per minute of one app, by all its tokens and sessions together (a token may have a lower limit), of one session of the operator, and without a valid token from one address. Several API processes together let through less than a quarter more.",
  ),
  BATCH_ITEMS_PER_MINUTE: setting(
    "batchItemsPerMinute",
    "Most items per minute in the batches of one app. Above it, a batch gets 429 `rate_limited`; one with more items than this is refused with 422. Several API processes together let through less than a quarter more.",
  ),
  PUBLIC_RATE_LIMIT_PER_MINUTE: setting(
    "publicRatePerMinute",
    "Most calls per minute of one address to what needs no token: `/`, `/ipfs`, `/metadata`, `/docs`, `/openapi.json`, `/console` and signing in. Marketplaces read many tokens in a short time. Behind a proxy, set `TRUST_PROXY`: without it all callers share the proxy's address.",
  ),
  MAX_CONNECTIONS: setting(
    "connections",
    "Most connections to the API of a process, event streams included. Above it, new connections are closed. Each needs a file descriptor.",
  ),
  MAX_CALL_BYTES: setting(
    "callBytes",
    "Most bytes of JSON bodies, by their declared length, that the calls in flight hold in a process, and most bytes of answers that are not read yet. Above it, an app with such a call gets 503 `unavailable`, and so does each app as soon as it holds as many bytes as are left, or a quarter of the answers. Callers without a token share as many bytes of their own.",
  ),
  MAX_BACKLOG: setting(
    "backlog",
    "Most accepted requests of all apps that are not final yet, without those that wait for media. Above it, calls that write get 503 `unavailable`. The last fifth is shared: an app gets this answer as soon as it has at least as many requests as places are left.",
  ),
  APP_QUOTAS: {
    schema: quotas,
    fallback: "stored_bytes=1000000000,collections=200,api_tokens=100",
    description:
      "Quotas of a new app, as `name=number` or `name=none`, separated by commas. A quota that is not named has its default; those without a default are unlimited. Names: `media_bytes`, `media_requests`, `wallets`, `stored_bytes` (metadata and unlockable content), `collections`, `mints`, `api_tokens`. `app quota` changes the quotas of an app later. Above 2,000 contracts, all apps together, log queries read the whole chain.",
  },
  APP_GAS_PER_DAY: {
    schema: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    fallback: "none",
    description:
      "Gas that one app may use per day (UTC). Until the cost of a request is known, it counts with the last measured cost of such calls. Without this setting there is no limit.",
  },
  MAX_ITEM_GAS: setting("itemGas", "Gas limit of one request on chain."),
  MAX_FOLLOWED_CONTRACTS: setting("contracts", "Most contracts of others that one app may follow."),
  MAX_FOREIGN_LOGS: setting(
    "foreignLogs",
    "Most moves of tokens that a followed contract reports in 500 blocks, also in one block or one log: a batch event counts once for each id that it names. A contract with more is quarantined.",
  ),
  SIMULATION_SECONDS: setting(
    "simulationSeconds",
    "Seconds for the simulations of one batch. A request whose receiver's code takes longer is simulated alone and sent later, while the others are sent.",
    LONGEST_TIMER,
  ),
  MAX_MEDIA_BYTES: setting("mediaBytes", "Largest file that is uploaded or that `copy_media` copies, in bytes."),
  MIN_FREE_DISK_BYTES: setting(
    "freeDiskBytes",
    "Bytes of the disk of `DATA_DIR` that uploads, copied media and exports leave free, for the database and the logs. With less, an upload or an export gets 503 `unavailable`, and media are copied later.",
  ),
} as const;
