import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import type { z } from "zod";

import type { Quotas } from "../domain/quota.ts";
import type { Retention } from "../domain/retention.ts";
import { CRASH_POINTS, type CrashPoint } from "../shared/crash-point.ts";
import { plural } from "../shared/text.ts";
import { readAppQuotas } from "./app-quotas.ts";
import { LIMIT_SETTINGS, type Limits, type LimitSetting } from "./limits.ts";
import { type BucketEnvironment, type MediaStoreSetting, parseMediaStore } from "./media-store.ts";
import { lanesInUse, MOST_LANES, wholeNumber } from "./parsers.ts";
import {
  type IpfsNodeSettings,
  ipfsNodeSettings,
  type LOG_LEVELS,
  readRetention,
  type Role,
  type TraceSettings,
  traceSettings,
  type Value,
  type Variable,
  VARIABLES,
  type VerifyCollections,
} from "./variables.ts";

/* Parts of the settings, for commands that need no others. Those others may be invalid. */

/** The part that links to the console need. @throws SettingsError */
export function parseLinkSettings(env: Environment): Pick<Settings, "publicUrl"> {
  const reader = new Reader(env);
  const settings = { publicUrl: reader.publicUrl(reader.read("PORT")) };
  reader.check();
  return settings;
}

/** The part that a new app needs. @throws SettingsError */
export function parseAppQuotas(env: Environment): Pick<Settings, "appQuotas"> {
  const reader = new Reader(env);
  const settings = { appQuotas: readAppQuotas((variable) => reader.read(variable)) };
  reader.check();
  return settings;
}

/** The part that `prune` needs. @throws SettingsError */
export function parsePruneSettings(env: Environment): Pick<Settings, "databaseUrl" | "retain"> {
  const reader = new Reader(env);
  const databaseUrl = reader.read("DATABASE_URL", defaultDatabase(reader.read("DATA_DIR")));
  const retain = readRetention((variable) => reader.read(variable));
  reader.check();
  return { databaseUrl, retain };
}

/**
 * The point at which this process kills itself. Only for the fault campaign, so it is not documented.
 * @throws SettingsError
 */
export function crashPointIn(env: Environment): CrashPoint | null {
  const text = env["CRASH_POINT"];
  if (text === undefined || text === "") return null;
  const point = CRASH_POINTS.find((known) => known === text);
  if (point === undefined) throw new SettingsError([`CRASH_POINT: must be one of ${CRASH_POINTS.join(", ")}`]);
  return point;
}

/** Services that publish the sources of contracts. */
export interface VerificationSettings {
  sourcifyUrl: string;
  etherscanUrl: string;
  /** null: Etherscan is not asked. */
  etherscanKey: string | null;
}

export interface Settings {
  port: number;
  host: string;
  /** null: nothing is measured. */
  metricsPort: number | null;
  metricsHost: string;
  /** null: nothing is traced. */
  traces: TraceSettings | null;
  publicUrl: string;
  /** Block explorer of the chain; null: there is none. */
  explorerUrl: string | null;
  verification: VerificationSettings;
  /** Who verifies collections. */
  verifyCollections: VerifyCollections;
  /** Proxies whose `X-Forwarded-For` header is believed: addresses, networks, names of ranges. */
  trustProxy: string[];
  /** The first, or only, node. */
  rpcUrl: string;
  /** All nodes, the preferred one first. */
  rpcUrls: readonly string[];
  /** Nodes that get no transactions: their places in the list, from 1. */
  rpcReadOnly: readonly number[];
  /** How many nodes must agree about a block before it is final. */
  rpcAgreement: number;
  /** Whether logs are checked against the receipts of their blocks. */
  verifyReceipts: boolean;
  /** First and largest sizes of log queries. */
  logQueries: { blocks: number; addresses: number; topicsAbove: number };
  dataDir: string;
  deploymentsDir: string;
  databaseUrl: string;
  /** Most connections to a PostgreSQL database. */
  databasePool: number;
  /** Folder of `pg_dump` and `pg_restore`; null: they are on PATH. */
  pgBin: string | null;
  seedFile: string;
  seedPassphrase: string | null;
  /** Extended public key of the wallets' root; null: it comes from the seed. */
  xpub: string | null;
  /** Newest first; empty when none is set. */
  secretKeys: { id: string; bytes: Uint8Array }[];
  /** Numbers of the lanes to use, ascending. */
  lanes: number[];
  leaseSeconds: number;
  rebroadcastSeconds: number;
  replaceSeconds: number;
  maxFeeGwei: number;
  /** null: 0.1 on a local chain, 1 on any other. */
  blockPollSeconds: number | null;
  /** null: 1 on a local chain, 12 on any other. */
  confirmations: number | null;
  /** null: no limit. */
  appGasPerDay: number | null;
  /** What an app that is created gets. */
  appQuotas: Quotas;
  allowedPrivateHosts: string[];
  mediaStore: MediaStoreSetting;
  /** null: `ipfs://` media that is not stored here is refused. */
  ipfsGateway: string | null;
  /** null: nothing is pinned elsewhere. */
  ipfsPinRpc: string | null;
  /** null: the service runs no IPFS node. */
  ipfsNode: IpfsNodeSettings | null;
  /** How long rows are kept that the service can do without. */
  retain: Retention;
  /** Hours between two collections of unused media; 0: never. */
  collectMediaHours: number;
  roles: Role[];
  logLevel: (typeof LOG_LEVELS)[number];
  limits: Limits;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown when settings are invalid. Lists every problem, one per line. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `Invalid settings. Correct them in the environment or in .env:\n${problems.map((problem) => `- ${problem}`).join("\n")}`,
    );
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
    metricsPort: reader.optional("METRICS_PORT"),
    metricsHost: reader.read("METRICS_HOST"),
    traces: traceSettings({
      endpoint: reader.optional("OTEL_EXPORTER_OTLP_ENDPOINT"),
      headers: reader.optional("OTEL_EXPORTER_OTLP_HEADERS"),
      serviceName: reader.read("OTEL_SERVICE_NAME"),
    }),
    publicUrl: reader.publicUrl(port),
    explorerUrl: reader.optional("EXPLORER_URL"),
    ...verificationOf(reader),
    trustProxy: reader.optional("TRUST_PROXY") ?? [],
    ...reader.nodes(),
    logQueries: {
      blocks: reader.read("LOG_QUERY_BLOCKS"),
      addresses: reader.read("LOG_QUERY_ADDRESSES"),
      topicsAbove: reader.read("LOG_TOPICS_ABOVE"),
    },
    dataDir,
    deploymentsDir: reader.read("DEPLOYMENTS_DIR"),
    databaseUrl: reader.read("DATABASE_URL", defaultDatabase(dataDir)),
    databasePool: reader.read("DATABASE_POOL"),
    pgBin: reader.optional("PG_BIN"),
    seedFile: reader.read("SEED_FILE", join(dataDir, "seed.jwe")),
    seedPassphrase: reader.seedPassphrase(),
    xpub: reader.optional("XPUB"),
    secretKeys: reader.optional("SECRET_KEYS") ?? [],
    lanes: reader.lanes(),
    leaseSeconds: reader.read("LEASE_SECONDS"),
    rebroadcastSeconds: reader.read("REBROADCAST_SECONDS"),
    replaceSeconds: reader.read("REPLACE_SECONDS"),
    maxFeeGwei: reader.read("MAX_FEE_GWEI"),
    blockPollSeconds: reader.optional("BLOCK_POLL_SECONDS"),
    confirmations: reader.optional("CONFIRMATIONS"),
    appGasPerDay: reader.optional("APP_GAS_PER_DAY"),
    appQuotas: readAppQuotas((variable) => reader.read(variable)),
    allowedPrivateHosts: reader.optional("ALLOWED_PRIVATE_HOSTS") ?? [],
    mediaStore: reader.mediaStore(reader.optional("MEDIA_STORE")),
    ipfsGateway: reader.optional("IPFS_GATEWAY"),
    ipfsPinRpc: reader.optional("IPFS_PIN_RPC"),
    ipfsNode: ipfsNodeSettings({
      listen: reader.optional("IPFS_LISTEN"),
      announce: reader.optional("IPFS_ANNOUNCE"),
      bootstrap: reader.optional("IPFS_BOOTSTRAP"),
    }),
    retain: readRetention((variable) => reader.read(variable)),
    collectMediaHours: reader.read("COLLECT_MEDIA_HOURS"),
    roles: reader.read("ROLES"),
    logLevel: reader.read("LOG_LEVEL"),
    limits: reader.limits(),
  };
  reader.check();
  return settings;
}

function verificationOf(reader: Reader): Pick<Settings, "verification" | "verifyCollections"> {
  const verification = {
    sourcifyUrl: reader.read("SOURCIFY_URL"),
    etherscanUrl: reader.read("ETHERSCAN_URL"),
    etherscanKey: reader.optional("ETHERSCAN_API_KEY"),
  };
  return { verification, verifyCollections: reader.verifyCollections() };
}

/** The part that most CLI commands need. Other settings may be invalid. @throws SettingsError */
export function parseDatabaseSettings(env: Environment): { databaseUrl: string } {
  const reader = new Reader(env);
  const dataDir = reader.read("DATA_DIR");
  const settings = { databaseUrl: reader.read("DATABASE_URL", defaultDatabase(dataDir)) };
  reader.check();
  return settings;
}

/** For a command that needs the folder alone. @throws SettingsError */
export function parseDataDir(env: Environment): string {
  const reader = new Reader(env);
  const dataDir = reader.read("DATA_DIR");
  reader.check();
  return dataDir;
}

/** A media store that a command names. @throws SettingsError */
export function parseMediaStoreText(env: Environment, text: string): MediaStoreSetting {
  const reader = new Reader(env);
  const setting = reader.mediaStore(text);
  reader.check();
  return setting;
}

export function defaultDatabase(dataDir: string): string {
  return `file:${join(dataDir, "moneta.sqlite")}`;
}

/** Reads variables and collects every problem, so that one error can list them all. */
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

  /** From `RPC_URLS`, or the one of `RPC_URL`, and how much they are believed. */
  nodes(): Pick<Settings, "rpcUrl" | "rpcUrls" | "rpcReadOnly" | "rpcAgreement" | "verifyReceipts"> {
    const several = this.optional("RPC_URLS");
    // A value that is not valid is an empty text until `check`.
    const readOnly = [this.optional("RPC_READ_ONLY") ?? []].flat();
    if (several !== null && this.#text("RPC_URL") !== null)
      this.#problems.push("RPC_URLS: set either this or RPC_URL, not both");
    const rpcUrls = [several ?? this.read("RPC_URL")].flat();
    const [rpcUrl = ""] = rpcUrls;
    if (readOnly.some((number) => number > rpcUrls.length))
      this.#problems.push(`RPC_READ_ONLY: there are only ${plural(rpcUrls.length, "node")}`);
    else if (rpcUrls.every((_, index) => readOnly.includes(index + 1)))
      this.#problems.push("RPC_READ_ONLY: at least one node must get transactions");
    const rpcAgreement = this.read("RPC_AGREEMENT");
    if (rpcAgreement > rpcUrls.length)
      this.#problems.push(
        `RPC_AGREEMENT: ${plural(rpcAgreement, "node")} cannot agree, because RPC_URLS names only ${rpcUrls.length.toString()}`,
      );
    return { rpcUrl, rpcUrls, rpcReadOnly: readOnly, rpcAgreement, verifyReceipts: this.read("VERIFY_RECEIPTS") };
  }

  verifyCollections(): VerifyCollections {
    const verifier = this.read("VERIFY_COLLECTIONS");
    // A process that does not ask has no need of the key. Problems of ROLES are found where it is read.
    const { schema, fallback } = VARIABLES.ROLES;
    const asks = schema.safeParse(this.#text("ROLES") ?? fallback).data?.includes("indexer") ?? false;
    if (verifier === "etherscan" && asks && this.#text("ETHERSCAN_API_KEY") === null)
      this.#problems.push("VERIFY_COLLECTIONS: etherscan needs a key of Etherscan's API: set ETHERSCAN_API_KEY");
    return verifier;
  }

  publicUrl(port: number): string {
    return this.read("PUBLIC_URL", `http://localhost:${port.toString()}`);
  }

  limits(): Limits {
    const settings: [string, LimitSetting][] = Object.entries(LIMIT_SETTINGS);
    const entries = settings.map(([name, limit]) => {
      const schema = wholeNumber(1, limit.most ?? 2 ** 31 - 1);
      return [name, this.#parse(limit.variable, schema, this.#text(limit.variable) ?? limit.default.toString())];
    });
    return Object.fromEntries(entries) as Limits;
  }

  /** @param text null: the default, which depends on the database. */
  mediaStore(text: string | null): MediaStoreSetting {
    const environment: BucketEnvironment = {
      accessKeyId: this.optional("AWS_ACCESS_KEY_ID"),
      secretAccessKey: this.optional("AWS_SECRET_ACCESS_KEY"),
      sessionToken: this.optional("AWS_SESSION_TOKEN"),
      region: this.read("AWS_REGION"),
      endpoint: this.optional("AWS_ENDPOINT_URL_S3"),
    };
    const fallback = this.#text("DATABASE_URL")?.startsWith("postgres") === true ? "database" : "files";
    const setting = parseMediaStore(text ?? fallback, environment);
    if (typeof setting !== "string") return setting;
    this.#problems.push(`MEDIA_STORE: ${setting}`);
    return { kind: "files" };
  }

  /** From its variable, or from the file that another variable names. */
  seedPassphrase(): string | null {
    const [given, file] = [this.optional("SEED_PASSPHRASE"), this.optional("SEED_PASSPHRASE_FILE")];
    if (file === null) return given;
    const text = given === null ? readSecret(file) : { problem: "set either this or SEED_PASSPHRASE, not both" };
    if (typeof text === "string") return text;
    this.#problems.push(`SEED_PASSPHRASE_FILE: ${text.problem}`);
    return null;
  }

  lanes(): number[] {
    const [count, retired] = [this.read("LANES"), this.optional("RETIRED_LANES") ?? []];
    const lanes = lanesInUse(count, retired);
    if (lanes.length < count) {
      const most = (MOST_LANES - retired.length).toString();
      this.#problems.push(
        `LANES: must be at most ${most}, because RETIRED_LANES names ${plural(retired.length, "lane")}`,
      );
    }
    return lanes;
  }

  check(): void {
    if (this.#problems.length > 0) throw new SettingsError(this.#problems);
  }

  /** A blank variable counts as unset: `.env` files contain blank ones. */
  #text(variable: string): string | null {
    const text = this.#env[variable]?.trim();
    return text === undefined || text === "" ? null : text;
  }

  #parse(variable: string, schema: z.ZodType, text: string): unknown {
    const result = schema.safeParse(text);
    if (result.success) return result.data;
    for (const issue of result.error.issues) this.#problems.push(`${variable}: ${wordsOf(issue)}`);
    // Never used: `check` throws before the settings are returned.
    return "";
  }
}

/** Bytes of the largest file with a secret. */
const MAX_SECRET = 4096;

function readSecret(file: string): string | { problem: string } {
  try {
    if (statSync(file).size > MAX_SECRET) return { problem: `${file} has more than ${MAX_SECRET.toString()} bytes` };
    const text = readFileSync(file, "utf8").trim();
    return text === "" ? { problem: `${file} is empty` } : text;
  } catch (error) {
    return { problem: `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "?"})` };
  }
}

function wordsOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_value" ? `must be one of ${issue.values.map(String).join(", ")}` : issue.message;
}
