import { z } from "zod";

import { LIMITS } from "./limit-settings.ts";
import { MEDIA } from "./media-store.ts";
import {
  addresses,
  codeHashes,
  databaseUrl,
  extendedPublicKey,
  httpUrl,
  laneNumbers,
  list,
  MOST_LANES,
  nodeCount,
  nodeNumbers,
  nodeUrls,
  publicUrl,
  refuse,
  secretKeys,
  setting,
  subsetOf,
  wholeNumber,
  XPUB_IS_PRIVATE,
} from "./parsers.ts";

const FOREVER = "forever";
/** A hundred years. */
const MOST_DAYS = 36_500;

/** A number of days, or `forever` (null). */
function days(least: number) {
  const message = `must be ${FOREVER}, or a whole number of days from ${least.toString()} to ${MOST_DAYS.toString()}`;
  return z
    .string()
    .refine((text) => text === FOREVER || /^\d{1,5}$/.test(text), message)
    .transform((text) => (text === FOREVER ? null : Number(text)))
    .refine((value) => value === null || (value >= least && value <= MOST_DAYS), message);
}

export const ROLES = ["api", "relayer", "indexer", "webhooks", "media", "ipfs"] as const;
export type Role = (typeof ROLES)[number];

/** Whether the logs of a block must be proven by its receipts. */
export const VERIFY_RECEIPTS = ["auto", "true", "false"] as const;
export type VerifyReceipts = (typeof VERIFY_RECEIPTS)[number];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** @throws Error when it is not a pair */
function pairOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new Error("no name");
  return [text.slice(0, at).trim(), decodeURIComponent(text.slice(at + 1).trim())];
}

/** Every setting: its parser, its default, and its meaning. In groups as in the documentation. */
export const GROUPS = {
  Service: {
    PORT: setting(wholeNumber(0, 65_535), "3000", "Port of the API. `0` picks a free port."),
    HOST: setting(
      z.string(),
      "127.0.0.1",
      "Address that the API listens on. `0.0.0.0` accepts connections from other machines.",
    ),
    PUBLIC_URL: setting(
      publicUrl,
      "`http://localhost:<PORT>`",
      "Public URL of the API. Hosted metadata URIs start with it.",
    ),
    TRUST_PROXY: setting(
      addresses,
      "none",
      "Proxies in front of the API: addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`, separated by commas. Limits and logs then use the client's address from their `X-Forwarded-For` header. From any other sender that header is ignored.",
    ),
    ROLES: setting(
      subsetOf(ROLES),
      ROLES.join(","),
      "Jobs of this process, separated by commas. Several processes can share the jobs.",
    ),
    LOG_LEVEL: setting(z.enum(LOG_LEVELS), "info", `Least severe level to log: ${LOG_LEVELS.join(", ")}.`),
    DATA_DIR: setting(z.string(), "data", "Folder for the database, hosted files and keys."),
    ALLOWED_PRIVATE_HOSTS: setting(
      list,
      "none",
      "Hosts in private networks that webhook and media URLs may use, separated by commas. All other private addresses are refused. Any app can then call these hosts, and read what they answer: the first KiB of an answer to a webhook, and any file that it copies as media.",
    ),
  },
  Database: {
    DATABASE_URL: setting(
      databaseUrl,
      "`file:<DATA_DIR>/moneta.sqlite`",
      "Database: SQLite as `file:<path>`, or PostgreSQL as `postgres://user:password@host:port/database`.",
    ),
    DATABASE_POOL: setting(
      wholeNumber(4, 1_000),
      "10",
      "PostgreSQL: most connections of this process. Half of them are for reads.",
    ),
    PG_BIN: setting(
      z.string(),
      "none",
      "PostgreSQL: folder of `pg_dump` and `pg_restore`, for back-ups. Without it they are looked for on `PATH`.",
    ),
    LEASE_SECONDS: setting(
      wholeNumber(3, 600),
      "15",
      "Seconds after which the work of a process that does not renew its leases is taken over by another one. Set the same value for all processes.",
    ),
  },
  Keys: {
    SEED_FILE: setting(
      z.string(),
      "`<DATA_DIR>/seed.jwe`",
      "Encrypted file with the seed phrase. All wallet keys and lane keys are derived from it.",
    ),
    SEED_PASSPHRASE: setting(
      z.string(),
      "none",
      "Passphrase that decrypts `SEED_FILE`. For a new file it needs at least 16 characters, 8 of them different: `openssl rand -base64 24` makes one.",
    ),
    SEED_PASSPHRASE_FILE: setting(
      z.string(),
      "none",
      "File with the passphrase, in the place of `SEED_PASSPHRASE`. Spaces and line breaks around it do not count.",
    ),
    XPUB: setting(
      extendedPublicKey,
      "none",
      `Extended public key of the wallets, which \`npm run cli -- keys check\` prints. With it a process without the role \`relayer\` needs no seed. ${XPUB_IS_PRIVATE}`,
    ),
    SECRET_KEYS: setting(
      secretKeys,
      "none",
      "Keys for encryption at rest, newest first, separated by commas. Each key is 32 bytes in base64 or hex (`openssl rand -base64 32`).",
    ),
  },
  Chain: {
    RPC_URL: setting(
      httpUrl,
      "http://127.0.0.1:8545",
      "JSON-RPC URL of the chain node. For several nodes, set `RPC_URLS` instead.",
    ),
    RPC_URLS: setting(
      nodeUrls,
      "`RPC_URL`",
      "JSON-RPC URLs of several nodes of the chain, separated by commas, the preferred one first (at most 8). Reads go to the first node that works, and signed transactions to all of them. See [operations.md](operations.md#several-nodes).",
    ),
    RPC_READ_ONLY: setting(
      nodeNumbers,
      "none",
      "Nodes of `RPC_URLS` that get no transactions: their places in the list, from 1, separated by commas. At least one other must be left.",
    ),
    RPC_AGREEMENT: setting(
      nodeCount,
      "1",
      "How many nodes of `RPC_URLS` must have a block before it is final, and always most of those that answer. So with 1, a single node is enough only while the others are down, and failed requests wait for a second one even then. With 2 or more, nothing becomes final while fewer answer. At most the number of nodes.",
    ),
    VERIFY_RECEIPTS: setting(
      z.enum(VERIFY_RECEIPTS),
      "auto",
      "Whether the logs that a node gives of a block are compared with the receipts of the block, which are proven by its hash. So a node that leaves a log out or invents one is noticed without another node. `auto`: where blocks of this chain can be proven; otherwise the work goes on, with the condition `receipts_unproven`. `true`: nothing is stored without a proof. `false`: nothing is compared. The check costs more calls. See [operations.md](operations.md#receipts-as-proof).",
    ),
    CONFIRMATIONS: setting(
      wholeNumber(1, 10_000),
      "`12` (`1` on chain id 31337)",
      "Number of blocks after which a block is final. The block itself counts.",
    ),
    BLOCK_POLL_SECONDS: setting(
      wholeNumber(1, 60),
      "`1` (`0.1` on chain id 31337)",
      "Seconds between two polls for new blocks. A poll that finds nothing makes three RPC calls.",
    ),
    DEPLOYMENTS_DIR: setting(
      z.string(),
      "deployments",
      "Folder of the `<chain id>.json` files with contract addresses that `npm run deploy` writes.",
    ),
    ALLOWED_CONTRACT_CODE: setting(
      codeHashes,
      "none",
      "For contracts of a build of your own: hashes of their code (keccak-256 of what the chain has), separated by commas. A start with contracts whose code neither a release of Moneta nor this list has is refused, and the error names the hashes.",
    ),
    EXPLORER_URL: setting(
      publicUrl,
      "none",
      "Block explorer of the chain, such as `https://etherscan.io`. The console links to its pages: `/tx/<hash>`, `/address/<address>`, `/token/<address>?a=<id>`.",
    ),
    SOURCIFY_URL: setting(
      publicUrl,
      "https://sourcify.dev/server",
      "Server of Sourcify (API v2), to which `deploy --verify` and `contract verify` send the sources of the contracts.",
    ),
    ETHERSCAN_URL: setting(
      publicUrl,
      "https://api.etherscan.io/v2/api",
      "Etherscan's API V2, which serves the block explorers of many chains.",
    ),
    ETHERSCAN_API_KEY: setting(
      z.string().regex(/^[A-Za-z0-9]{1,100}$/, "must be letters and digits"),
      "none",
      "Key for Etherscan's API. Without it, only Sourcify is asked.",
    ),
  },
  Sending: {
    LANES: setting(wholeNumber(1, MOST_LANES), "1", "Number of accounts that send transactions in parallel."),
    RETIRED_LANES: setting(
      laneNumbers,
      "none",
      "Numbers of lanes that take no new requests, separated by commas: after the key of a lane was stolen. They finish what they have signed. The lanes are numbered from 0; `LANES` counts the others.",
    ),
    MAX_FEE_GWEI: setting(
      wholeNumber(1, 1_000_000_000),
      "1000",
      "Highest fee per unit of gas, in gwei. While the chain asks for more, requests wait.",
    ),
    REPLACE_SECONDS: setting(
      wholeNumber(1, 86_400),
      "60",
      "Seconds before an unmined transaction is replaced with a higher fee.",
    ),
  },
  Limits: LIMITS,
  "Media and IPFS": MEDIA,
  /** How long rows that the service can do without are kept. The defaults keep every promise of the API. */
  Retention: {
    RETAIN_DAYS: setting(
      days(1),
      "30",
      "Days for which rows are kept whose work is done, or `forever`: accepted webhook deliveries, test events, the bytes of transactions that no reorg can remove, and ended sessions of the console.",
    ),
    RETAIN_FAILED_DAYS: setting(
      days(7),
      "365",
      "Days for which rows are kept that somebody may still need, or `forever`: failed webhook deliveries, long answers to batches, and API tokens that were revoked or have expired.",
    ),
  },
  Monitoring: {
    METRICS_PORT: setting(
      wholeNumber(0, 65_535),
      "none",
      "Port of `/metrics`, for Prometheus. `0` picks a free port. Without it nothing is measured. Each process needs a port of its own.",
    ),
    METRICS_HOST: setting(
      z.string(),
      "127.0.0.1",
      "Address that `/metrics` listens on. It asks for no token: use an address that only your monitoring can reach.",
    ),
    OTEL_EXPORTER_OTLP_ENDPOINT: setting(
      publicUrl,
      "none",
      "URL of an OpenTelemetry collector (`http://127.0.0.1:4318`). Traces are sent to `/v1/traces` below it, by OTLP over HTTP in JSON. Without this setting nothing is traced.",
    ),
    OTEL_EXPORTER_OTLP_HEADERS: setting(
      z.string().transform((text, context) => {
        try {
          return Object.fromEntries(new Headers(text.split(",").map(pairOf)));
        } catch {
          // The text is never part of a message: it may contain a key.
          return refuse(context, "must be name=value pairs, separated by commas");
        }
      }),
      "none",
      "Headers for the collector, as `name=value` pairs separated by commas. Special characters of a value are written as `%XX`.",
    ),
    OTEL_SERVICE_NAME: setting(z.string(), "moneta", "Name of this service in traces."),
  },
} as const;

/** All of them by name. */
export const VARIABLES = {
  ...GROUPS.Service,
  ...GROUPS.Database,
  ...GROUPS.Keys,
  ...GROUPS.Chain,
  ...GROUPS.Sending,
  ...GROUPS.Limits,
  ...GROUPS["Media and IPFS"],
  ...GROUPS.Retention,
  ...GROUPS.Monitoring,
} as const;

export type Variable = keyof typeof VARIABLES;
export type Value<V extends Variable> = z.output<(typeof VARIABLES)[V]["schema"]>;
