import { z } from "zod";

import { APP_QUOTA_VARIABLES } from "./app-quotas.ts";
import { extendedPublicKey, XPUB_IS_PRIVATE } from "./extended-public-key.ts";
import { IPFS_VARIABLES } from "./ipfs-settings.ts";
import { MOST_LANES } from "./lanes.ts";
import { MEDIA_STORE_VARIABLES } from "./media-store.ts";
import {
  addresses,
  databaseUrl,
  httpUrl,
  laneNumbers,
  list,
  publicUrl,
  secretKeys,
  subsetOf,
  wholeNumber,
} from "./parsers.ts";
import { RETENTION_VARIABLES } from "./retention.ts";
import { TRACE_VARIABLES } from "./trace-settings.ts";

export const ROLES = ["api", "relayer", "indexer", "webhooks", "media", "ipfs"] as const;
export type Role = (typeof ROLES)[number];

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Every environment variable except the limits: its parser, its default, and its meaning for docs/settings.md. */
export const VARIABLES = {
  PORT: { schema: wholeNumber(0, 65_535), fallback: "3000", description: "Port of the API. `0` picks a free port." },
  HOST: {
    schema: z.string(),
    fallback: "127.0.0.1",
    description: "Address that the API listens on. `0.0.0.0` accepts connections from other machines.",
  },
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
  ...TRACE_VARIABLES,
  PUBLIC_URL: {
    schema: publicUrl,
    fallback: "`http://localhost:<PORT>`",
    description: "Public URL of the API. Hosted metadata URIs start with it.",
  },
  EXPLORER_URL: {
    schema: publicUrl,
    fallback: "none",
    description:
      "Block explorer of the chain, such as `https://etherscan.io`. The console links to its pages: `/tx/<hash>`, `/address/<address>`, `/token/<address>?a=<id>`.",
  },
  TRUST_PROXY: {
    schema: addresses,
    fallback: "none",
    description:
      "Proxies in front of the API: addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`, separated by commas. Limits and logs then use the client's address from their `X-Forwarded-For` header. From any other sender that header is ignored.",
  },
  RPC_URL: {
    schema: httpUrl,
    fallback: "http://127.0.0.1:8545",
    description: "JSON-RPC URL of the chain node.",
  },
  LOG_QUERY_BLOCKS: {
    schema: wholeNumber(1, 100_000),
    fallback: "500",
    description:
      "Most blocks in one `eth_getLogs` query. If the provider refuses so many, the service halves them by itself, and tries more again later.",
  },
  LOG_QUERY_ADDRESSES: {
    schema: wholeNumber(1, 100_000),
    fallback: "500",
    description: "Most addresses in one `eth_getLogs` query. Adapts to the provider in the same way.",
  },
  LOG_TOPICS_ABOVE: {
    schema: wholeNumber(1, 100_000_000),
    fallback: "2000",
    description:
      "Number of followed contracts above which log queries name no addresses. The service then reads all NFT transfers of the chain and drops those of other contracts.",
  },
  DATA_DIR: {
    schema: z.string(),
    fallback: "data",
    description: "Folder for the database, hosted files and keys.",
  },
  DEPLOYMENTS_DIR: {
    schema: z.string(),
    fallback: "deployments",
    description: "Folder of the `<chain id>.json` files with contract addresses that `npm run deploy` writes.",
  },
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
  LEASE_SECONDS: {
    schema: wholeNumber(3, 600),
    fallback: "15",
    description:
      "Seconds after which the work of a process that does not renew its leases is taken over by another one. Set the same value for all processes.",
  },
  REBROADCAST_SECONDS: {
    schema: wholeNumber(1, 3_600),
    fallback: "5",
    description: "Seconds before an unmined transaction is sent to the node again.",
  },
  REPLACE_SECONDS: {
    schema: wholeNumber(1, 86_400),
    fallback: "60",
    description: "Seconds before an unmined transaction is replaced with a higher fee.",
  },
  MAX_FEE_GWEI: {
    schema: wholeNumber(1, 1_000_000_000),
    fallback: "1000",
    description: "Highest fee per unit of gas, in gwei. While the chain asks for more, requests wait.",
  },
  BLOCK_POLL_SECONDS: {
    schema: wholeNumber(1, 60),
    fallback: "`1` (`0.1` on chain id 31337)",
    description: "Seconds between two looks for new blocks. A look that finds nothing makes three RPC calls.",
  },
  CONFIRMATIONS: {
    schema: wholeNumber(1, 10_000),
    fallback: "`12` (`1` on chain id 31337)",
    description: "Number of blocks after which a block is final. The block itself counts.",
  },
  APP_GAS_PER_DAY: {
    schema: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    fallback: "none",
    description:
      "Gas that one app may use per day (UTC). A request counts with what such calls cost on the chain as it was last measured, until its own cost is known. Without this setting there is no limit.",
  },
  ...APP_QUOTA_VARIABLES,
  ALLOWED_PRIVATE_HOSTS: {
    schema: list,
    fallback: "none",
    description:
      "Hosts in private networks that webhook and media URLs may use, separated by commas. All other private addresses are refused.",
  },
  ...MEDIA_STORE_VARIABLES,
  ...IPFS_VARIABLES,
  ...RETENTION_VARIABLES,
  COLLECT_MEDIA_HOURS: {
    schema: wholeNumber(0, 8_760),
    fallback: "24",
    description:
      "Hours between two deletions of media that nothing uses and that are older than a week, as `npm run cli -- media collect` deletes them. A process with the role `media` does it. `0`: never.",
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
} as const;

export type Variable = keyof typeof VARIABLES;
export type Value<V extends Variable> = z.output<(typeof VARIABLES)[V]["schema"]>;
