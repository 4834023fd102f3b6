import { join } from "node:path";

import { z } from "zod";

import { IPFS_VARIABLES, type IpfsNodeSettings, ipfsNodeSettings } from "./ipfs-settings.ts";
import { LIMIT_SETTINGS, type Limits } from "./limits.ts";
import { databaseUrl, httpUrl, list, publicUrl, secretKeys, subsetOf, wholeNumber } from "./parsers.ts";

export const ROLES = ["api", "relayer", "indexer", "webhooks", "media"] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Every variable: how it is read, and for the README what it means and what holds without it. */
const VARIABLES = {
  PORT: { schema: wholeNumber(0, 65_535), fallback: "3000", description: "Port of the API." },
  HOST: {
    schema: z.string(),
    fallback: "127.0.0.1",
    description: "Address that the API listens on; `0.0.0.0` lets other machines in.",
  },
  PUBLIC_URL: {
    schema: publicUrl,
    fallback: "`http://localhost:<PORT>`",
    description: "Where others reach the API: the base of hosted metadata URIs.",
  },
  RPC_URL: { schema: httpUrl, fallback: "http://127.0.0.1:8545", description: "JSON-RPC address of a chain node." },
  DATA_DIR: { schema: z.string(), fallback: "data", description: "Folder of everything that the service keeps." },
  DEPLOYMENTS_DIR: {
    schema: z.string(),
    fallback: "deployments",
    description: "Folder of the files `<chain id>.json` in which `npm run deploy` says where the contracts are.",
  },
  DATABASE_URL: {
    schema: databaseUrl,
    fallback: "`file:<DATA_DIR>/moneta.sqlite`",
    description: "The database: `file:<path>` for SQLite.",
  },
  SEED_FILE: {
    schema: z.string(),
    fallback: "`<DATA_DIR>/seed.jwe`",
    description: "Encrypted file with the seed phrase of all wallets and lanes.",
  },
  SEED_PASSPHRASE: { schema: z.string(), fallback: "none", description: "Opens `SEED_FILE`." },
  SECRET_KEYS: {
    schema: secretKeys,
    fallback: "none",
    description: "Keys of the encryption at rest, newest first, separated by commas: 32 bytes each, base64 or hex.",
  },
  LANES: { schema: wholeNumber(1, 64), fallback: "1", description: "Sending keys that work side by side." },
  REBROADCAST_SECONDS: {
    schema: wholeNumber(1, 3_600),
    fallback: "5",
    description: "Signed transactions that are in no block by then are handed to the node again.",
  },
  REPLACE_SECONDS: {
    schema: wholeNumber(1, 86_400),
    fallback: "60",
    description: "Transactions that are in no block by then are replaced by one with a higher fee.",
  },
  MAX_FEE_GWEI: {
    schema: wholeNumber(1, 1_000_000_000),
    fallback: "1000",
    description:
      "Most that is paid for a unit of gas, in gwei of the chain's coin; while it costs more, requests wait.",
  },
  CONFIRMATIONS: {
    schema: wholeNumber(1, 10_000),
    fallback: "`12` (`1` on chain id 31337)",
    description: "Blocks, its own included, after which a block counts as final.",
  },
  APP_GAS_PER_DAY: {
    schema: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    fallback: "none",
    description: "Gas that the requests of one app may use in a day (UTC); without it there is no such limit.",
  },
  ALLOWED_PRIVATE_HOSTS: {
    schema: list,
    fallback: "none",
    description: "Hosts in private networks that webhooks and media may be at, separated by commas.",
  },
  ...IPFS_VARIABLES,
  ROLES: {
    schema: subsetOf(ROLES),
    fallback: ROLES.join(","),
    description: "What this process does.",
  },
  LOG_LEVEL: { schema: z.enum(LOG_LEVELS), fallback: "info", description: `One of ${LOG_LEVELS.join(", ")}.` },
} as const;
type Variable = keyof typeof VARIABLES;
type Value<V extends Variable> = z.output<(typeof VARIABLES)[V]["schema"]>;

export interface Settings {
  port: number;
  host: string;
  publicUrl: string;
  rpcUrl: string;
  dataDir: string;
  deploymentsDir: string;
  databaseUrl: string;
  seedFile: string;
  seedPassphrase: string | null;
  /** Newest first; empty when none is set. */
  secretKeys: { id: string; bytes: Uint8Array }[];
  lanes: number;
  rebroadcastSeconds: number;
  replaceSeconds: number;
  maxFeeGwei: number;
  /** null: whatever suits the chain. */
  confirmations: number | null;
  /** null: no limit. */
  appGasPerDay: number | null;
  allowedPrivateHosts: string[];
  /** null: none. */
  ipfsGateway: string | null;
  /** null: none. */
  ipfsPinRpc: string | null;
  /** null: the service has no node of its own. */
  ipfsNode: IpfsNodeSettings | null;
  roles: Role[];
  logLevel: (typeof LOG_LEVELS)[number];
  limits: Limits;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown when settings are wrong: all problems at once, one line each. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Settings are wrong:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/** @throws SettingsError */
export function parseSettings(env: Environment): Settings {
  const reader = new Reader(env);
  const port = reader.read("PORT");
  const dataDir = reader.read("DATA_DIR");
  const settings: Settings = {
    port,
    host: reader.read("HOST"),
    publicUrl: reader.read("PUBLIC_URL", `http://localhost:${port.toString()}`),
    rpcUrl: reader.read("RPC_URL"),
    dataDir,
    deploymentsDir: reader.read("DEPLOYMENTS_DIR"),
    databaseUrl: reader.read("DATABASE_URL", defaultDatabase(dataDir)),
    seedFile: reader.read("SEED_FILE", join(dataDir, "seed.jwe")),
    seedPassphrase: reader.optional("SEED_PASSPHRASE"),
    secretKeys: reader.optional("SECRET_KEYS") ?? [],
    lanes: reader.read("LANES"),
    rebroadcastSeconds: reader.read("REBROADCAST_SECONDS"),
    replaceSeconds: reader.read("REPLACE_SECONDS"),
    maxFeeGwei: reader.read("MAX_FEE_GWEI"),
    confirmations: reader.optional("CONFIRMATIONS"),
    appGasPerDay: reader.optional("APP_GAS_PER_DAY"),
    allowedPrivateHosts: reader.optional("ALLOWED_PRIVATE_HOSTS") ?? [],
    ipfsGateway: reader.optional("IPFS_GATEWAY"),
    ipfsPinRpc: reader.optional("IPFS_PIN_RPC"),
    ipfsNode: ipfsNodeSettings({
      listen: reader.optional("IPFS_LISTEN"),
      announce: reader.optional("IPFS_ANNOUNCE"),
      bootstrap: reader.optional("IPFS_BOOTSTRAP"),
    }),
    roles: reader.read("ROLES"),
    logLevel: reader.read("LOG_LEVEL"),
    limits: reader.limits(),
  };
  reader.check();
  return settings;
}

/** What the command line needs: where the database is, and nothing of the chain. @throws SettingsError */
export function parseDatabaseSettings(env: Environment): { databaseUrl: string } {
  const reader = new Reader(env);
  const dataDir = reader.read("DATA_DIR");
  const settings = { databaseUrl: reader.read("DATABASE_URL", defaultDatabase(dataDir)) };
  reader.check();
  return settings;
}

function defaultDatabase(dataDir: string): string {
  return `file:${join(dataDir, "moneta.sqlite")}`;
}

/** Every variable with its default and meaning, in the order of the README. */
export function describeSettings(): { variable: string; fallback: string; description: string }[] {
  const plain = Object.entries(VARIABLES).map(([variable, { fallback, description }]) => ({
    variable,
    fallback: fallback.startsWith("`") || fallback === "none" ? fallback : `\`${fallback}\``,
    description,
  }));
  const limits = Object.values(LIMIT_SETTINGS).map((limit) => ({
    variable: limit.variable,
    fallback: `\`${limit.default.toString()}\``,
    description: limit.description,
  }));
  return [...plain, ...limits];
}

/** Reads variables and collects what is wrong with them, so that all of it is told at once. */
class Reader {
  readonly #env: Environment;
  readonly #problems: string[] = [];

  constructor(env: Environment) {
    this.#env = env;
  }

  read<V extends Variable>(variable: V, fallback: string = VARIABLES[variable].fallback): Value<V> {
    return this.#parse(variable, VARIABLES[variable].schema, this.#text(variable) ?? fallback) as Value<V>;
  }

  optional<V extends Variable>(variable: V): Value<V> | null {
    const text = this.#text(variable);
    return text === null ? null : (this.#parse(variable, VARIABLES[variable].schema, text) as Value<V>);
  }

  limits(): Limits {
    const schema = wholeNumber(1, 2 ** 31 - 1);
    const entries = Object.entries(LIMIT_SETTINGS).map(([name, limit]) => [
      name,
      this.#parse(limit.variable, schema, this.#text(limit.variable) ?? limit.default.toString()),
    ]);
    return Object.fromEntries(entries) as Limits;
  }

  check(): void {
    if (this.#problems.length > 0) throw new SettingsError(this.#problems);
  }

  /** A blank variable is one that is not set: `.env` files leave them so. */
  #text(variable: string): string | null {
    const text = this.#env[variable]?.trim();
    return text === undefined || text === "" ? null : text;
  }

  #parse(variable: string, schema: z.ZodType, text: string): unknown {
    const result = schema.safeParse(text);
    if (result.success) return result.data;
    for (const issue of result.error.issues) this.#problems.push(`${variable}: ${wordsOf(issue)}`);
    // Never seen by anyone: `check` throws before the settings are handed out.
    return "";
  }
}

function wordsOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_value" ? `must be one of ${issue.values.map(String).join(", ")}` : issue.message;
}
