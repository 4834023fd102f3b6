import { z } from "zod";

import type { Retention } from "../domain/retention.ts";
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

/** How long rows that the service can do without are kept. The defaults keep every promise of the API. */
const RETENTION_VARIABLES = {
  RETAIN_DAYS: {
    schema: days(1),
    fallback: "30",
    description:
      "Days for which rows are kept whose work is done, or `forever`: accepted webhook deliveries, test events, the bytes of transactions that no reorg can remove, and ended sessions of the console.",
  },
  RETAIN_FAILED_DAYS: {
    schema: days(7),
    fallback: "365",
    description:
      "Days for which rows are kept that somebody may still need, or `forever`: failed webhook deliveries, long answers to batches, and API tokens that were revoked or have expired.",
  },
} as const;

export const DEFAULT_RETENTION: Retention = {
  days: RETENTION_VARIABLES.RETAIN_DAYS.schema.parse(RETENTION_VARIABLES.RETAIN_DAYS.fallback),
  failedDays: RETENTION_VARIABLES.RETAIN_FAILED_DAYS.schema.parse(RETENTION_VARIABLES.RETAIN_FAILED_DAYS.fallback),
};

export const ROLES = ["api", "relayer", "indexer", "webhooks", "media", "ipfs"] as const;
export type Role = (typeof ROLES)[number];

/** Whether the logs of a block must be proven by its receipts. */
export const VERIFY_RECEIPTS = ["auto", "true", "false"] as const;
export type VerifyReceipts = (typeof VERIFY_RECEIPTS)[number];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const SERVICE = {
  PORT: { schema: wholeNumber(0, 65_535), fallback: "3000", description: "Port of the API. `0` picks a free port." },
  HOST: {
    schema: z.string(),
    fallback: "127.0.0.1",
    description: "Address that the API listens on. `0.0.0.0` accepts connections from other machines.",
  },
  PUBLIC_URL: {
    schema: publicUrl,
    fallback: "`http://localhost:<PORT>`",
    description: "Public URL of the API. Hosted metadata URIs start with it.",
  },
  TRUST_PROXY: {
    schema: addresses,
    fallback: "none",
    description:
      "Proxies in front of the API: addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`, separated by commas. Limits and logs then use the client's address from their `X-Forwarded-For` header. From any other sender that header is ignored.",
  },
  ROLES: {
    schema: subsetOf(ROLES),
    fallback: ROLES.join(","),
    description: "Jobs of this process, separated by commas. Several processes can share the jobs.",
  },
  LOG_LEVEL: {
    schema: z.enum(LOG_LEVELS),
    fallback: "info",
    description: `Least severe level to log: ${LOG_LEVELS.join(", ")}.`,
  },
  DATA_DIR: { schema: z.string(), fallback: "data", description: "Folder for the database, hosted files and keys." },
  ALLOWED_PRIVATE_HOSTS: {
    schema: list,
    fallback: "none",
    description:
      "Hosts in private networks that webhook and media URLs may use, separated by commas. All other private addresses are refused. Any app can then call these hosts, and read what they answer: the first KiB of an answer to a webhook, and any file that it copies as media.",
  },
} as const;

const DATABASE = {
  DATABASE_URL: {
    schema: databaseUrl,
    fallback: "`file:<DATA_DIR>/moneta.sqlite`",
    description: "Database: SQLite as `file:<path>`, or PostgreSQL as `postgres://user:password@host:port/database`.",
  },
  DATABASE_POOL: {
    schema: wholeNumber(4, 1_000),
    fallback: "10",
    description: "PostgreSQL: most connections of this process. Half of them are for reads.",
  },
  PG_BIN: {
    schema: z.string(),
    fallback: "none",
    description:
      "PostgreSQL: folder of `pg_dump` and `pg_restore`, for back-ups. Without it they are looked for on `PATH`.",
  },
  LEASE_SECONDS: {
    schema: wholeNumber(3, 600),
    fallback: "15",
    description:
      "Seconds after which the work of a process that does not renew its leases is taken over by another one. Set the same value for all processes.",
  },
} as const;

const KEYS = {
  SEED_FILE: {
    schema: z.string(),
    fallback: "`<DATA_DIR>/seed.jwe`",
    description: "Encrypted file with the seed phrase. All wallet keys and lane keys are derived from it.",
  },
  SEED_PASSPHRASE: {
    schema: z.string(),
    fallback: "none",
    description:
      "Passphrase that decrypts `SEED_FILE`. For a new file it needs at least 16 characters, 8 of them different: `openssl rand -base64 24` makes one.",
  },
  SEED_PASSPHRASE_FILE: {
    schema: z.string(),
    fallback: "none",
    description:
      "File with the passphrase, in the place of `SEED_PASSPHRASE`. Spaces and line breaks around it do not count.",
  },
  XPUB: {
    schema: extendedPublicKey,
    fallback: "none",
    description: `Extended public key of the wallets, which \`npm run cli -- keys check\` prints. With it a process without the role \`relayer\` needs no seed. ${XPUB_IS_PRIVATE}`,
  },
  SECRET_KEYS: {
    schema: secretKeys,
    fallback: "none",
    description:
      "Keys for encryption at rest, newest first, separated by commas. Each key is 32 bytes in base64 or hex (`openssl rand -base64 32`).",
  },
} as const;

const CHAIN = {
  RPC_URL: {
    schema: httpUrl,
    fallback: "http://127.0.0.1:8545",
    description: "JSON-RPC URL of the chain node. For several nodes, set `RPC_URLS` instead.",
  },
  RPC_URLS: {
    schema: nodeUrls,
    fallback: "`RPC_URL`",
    description:
      "JSON-RPC URLs of several nodes of the chain, separated by commas, the preferred one first (at most 8). Reads go to the first node that works, and signed transactions to all of them. See [operations.md](operations.md#several-nodes).",
  },
  RPC_READ_ONLY: {
    schema: nodeNumbers,
    fallback: "none",
    description:
      "Nodes of `RPC_URLS` that get no transactions: their places in the list, from 1, separated by commas. At least one other must be left.",
  },
  RPC_AGREEMENT: {
    schema: nodeCount,
    fallback: "1",
    description:
      "How many nodes of `RPC_URLS` must have a block before it is final, and always most of those that answer. So with 1, a single node is enough only while the others are down, and failed requests wait for a second one even then. With 2 or more, nothing becomes final while fewer answer. At most the number of nodes.",
  },
  VERIFY_RECEIPTS: {
    schema: z.enum(VERIFY_RECEIPTS),
    fallback: "auto",
    description:
      "Whether the logs that a node gives of a block are compared with the receipts of the block, which are proven by its hash. So a node that leaves a log out or invents one is noticed without another node. `auto`: where blocks of this chain can be proven; otherwise the work goes on, with the condition `receipts_unproven`. `true`: nothing is stored without a proof. `false`: nothing is compared. The check costs more calls. See [operations.md](operations.md#receipts-as-proof).",
  },
  CONFIRMATIONS: {
    schema: wholeNumber(1, 10_000),
    fallback: "`12` (`1` on chain id 31337)",
    description: "Number of blocks after which a block is final. The block itself counts.",
  },
  BLOCK_POLL_SECONDS: {
    schema: wholeNumber(1, 60),
    fallback: "`1` (`0.1` on chain id 31337)",
    description: "Seconds between two polls for new blocks. A poll that finds nothing makes three RPC calls.",
  },
  DEPLOYMENTS_DIR: {
    schema: z.string(),
    fallback: "deployments",
    description: "Folder of the `<chain id>.json` files with contract addresses that `npm run deploy` writes.",
  },
  ALLOWED_CONTRACT_CODE: {
    schema: codeHashes,
    fallback: "none",
    description:
      "For contracts of a build of your own: hashes of their code (keccak-256 of what the chain has), separated by commas. A start with contracts whose code neither a release of Moneta nor this list has is refused, and the error names the hashes.",
  },
  EXPLORER_URL: {
    schema: publicUrl,
    fallback: "none",
    description:
      "Block explorer of the chain, such as `https://etherscan.io`. The console links to its pages: `/tx/<hash>`, `/address/<address>`, `/token/<address>?a=<id>`.",
  },
  SOURCIFY_URL: {
    schema: publicUrl,
    fallback: "https://sourcify.dev/server",
    description:
      "Server of Sourcify (API v2), to which `deploy --verify` and `contract verify` send the sources of the contracts.",
  },
  ETHERSCAN_URL: {
    schema: publicUrl,
    fallback: "https://api.etherscan.io/v2/api",
    description: "Etherscan's API V2, which serves the block explorers of many chains.",
  },
  ETHERSCAN_API_KEY: {
    schema: z.string().regex(/^[A-Za-z0-9]{1,100}$/, "must be letters and digits"),
    fallback: "none",
    description: "Key for Etherscan's API. Without it, only Sourcify is asked.",
  },
} as const;

const SENDING = {
  LANES: {
    schema: wholeNumber(1, MOST_LANES),
    fallback: "1",
    description: "Number of accounts that send transactions in parallel.",
  },
  RETIRED_LANES: {
    schema: laneNumbers,
    fallback: "none",
    description:
      "Numbers of lanes that take no new requests, separated by commas: after the key of a lane was stolen. They finish what they have signed. The lanes are numbered from 0; `LANES` counts the others.",
  },
  MAX_FEE_GWEI: {
    schema: wholeNumber(1, 1_000_000_000),
    fallback: "1000",
    description: "Highest fee per unit of gas, in gwei. While the chain asks for more, requests wait.",
  },
  REPLACE_SECONDS: {
    schema: wholeNumber(1, 86_400),
    fallback: "60",
    description: "Seconds before an unmined transaction is replaced with a higher fee.",
  },
} as const;

const MONITORING = {
  METRICS_PORT: {
    schema: wholeNumber(0, 65_535),
    fallback: "none",
    description:
      "Port of `/metrics`, for Prometheus. `0` picks a free port. Without it nothing is measured. Each process needs a port of its own.",
  },
  METRICS_HOST: {
    schema: z.string(),
    fallback: "127.0.0.1",
    description:
      "Address that `/metrics` listens on. It asks for no token: use an address that only your monitoring can reach.",
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: publicUrl,
    fallback: "none",
    description:
      "URL of an OpenTelemetry collector (`http://127.0.0.1:4318`). Traces are sent to `/v1/traces` below it, by OTLP over HTTP in JSON. Without this setting nothing is traced.",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: z.string().transform((text, context) => {
      try {
        return Object.fromEntries(new Headers(text.split(",").map(pairOf)));
      } catch {
        // The text is never part of a message: it may contain a key.
        return refuse(context, "must be name=value pairs, separated by commas");
      }
    }),
    fallback: "none",
    description:
      "Headers for the collector, as `name=value` pairs separated by commas. Special characters of a value are written as `%XX`.",
  },
  OTEL_SERVICE_NAME: { schema: z.string(), fallback: "moneta", description: "Name of this service in traces." },
} as const;

/** @throws Error when it is not a pair */
function pairOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new Error("no name");
  return [text.slice(0, at).trim(), decodeURIComponent(text.slice(at + 1).trim())];
}

/** Every setting, in groups as in the documentation. */
export const GROUPS = {
  Service: SERVICE,
  Database: DATABASE,
  Keys: KEYS,
  Chain: CHAIN,
  Sending: SENDING,
  Limits: LIMITS,
  "Media and IPFS": MEDIA,
  Retention: RETENTION_VARIABLES,
  Monitoring: MONITORING,
} as const;

/** Every setting: its parser, its default, and its meaning. */
export const VARIABLES = {
  ...SERVICE,
  ...DATABASE,
  ...KEYS,
  ...CHAIN,
  ...SENDING,
  ...LIMITS,
  ...MEDIA,
  ...RETENTION_VARIABLES,
  ...MONITORING,
} as const;

export type Variable = keyof typeof VARIABLES;
export type Value<V extends Variable> = z.output<(typeof VARIABLES)[V]["schema"]>;
