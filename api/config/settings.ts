import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import type { z } from "zod";

import type { Retention } from "../domain/retention.ts";
import { CRASH_POINTS, type CrashPoint } from "../shared/crash-point.ts";
import { plural } from "../shared/text.ts";
import { LIMITS } from "./limit-settings.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { settingsFileOf } from "./settings-file.ts";
import { type BucketEnvironment, type MediaStoreSetting, parseMediaStore, PUBLIC_BOOTSTRAP } from "./media-store.ts";
import { lanesInUse, MOST_LANES } from "./parsers.ts";
import { removedSettings } from "./removed-settings.ts";
import { type Value, type Variable, VARIABLES } from "./variables.ts";

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

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown when settings are invalid. Lists every problem, one per line. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly string[];

  /** @param file that has settings beside the environment. */
  constructor(problems: readonly string[], file = ".env") {
    super(
      `Invalid settings. Correct them in the environment or in ${file}:\n${problems.map((problem) => `- ${problem}`).join("\n")}`,
    );
    this.problems = problems;
  }
}

/** @throws SettingsError */
export function parseSettings(env: Environment) {
  return parsePart(env, settingsOf);
}

/** What the service and its commands get. `null` means that a setting is not set and has no default. */
export type Settings = ReturnType<typeof settingsOf>;

function settingsOf(reader: Reader) {
  const port = reader.read("PORT");
  const dataDir = reader.read("DATA_DIR");
  return {
    port,
    host: reader.read("HOST"),
    /** null: nothing is measured. */
    metricsPort: reader.optional("METRICS_PORT"),
    metricsHost: reader.read("METRICS_HOST"),
    traces: reader.traces(),
    publicUrl: reader.publicUrl(port),
    /** Block explorer of the chain. */
    explorerUrl: reader.optional("EXPLORER_URL"),
    ...reader.verification(),
    /** Proxies whose `X-Forwarded-For` header is believed: addresses, networks, names of ranges. */
    trustProxy: reader.optional("TRUST_PROXY") ?? [],
    ...reader.nodes(),
    dataDir,
    deploymentsDir: reader.read("DEPLOYMENTS_DIR"),
    /** Hashes of contract code that is accepted besides that of the releases. */
    allowedContractCode: reader.optional("ALLOWED_CONTRACT_CODE") ?? [],
    databaseUrl: reader.databaseUrl(dataDir),
    databasePool: reader.read("DATABASE_POOL"),
    /** null: `pg_dump` and `pg_restore` are on PATH. */
    pgBin: reader.optional("PG_BIN"),
    seedFile: reader.read("SEED_FILE", join(dataDir, "seed.jwe")),
    seedPassphrase: reader.seedPassphrase(),
    /** null: the extended public key of the wallets' root comes from the seed. */
    xpub: reader.optional("XPUB"),
    /** Newest first; empty when none is set. */
    secretKeys: reader.optional("SECRET_KEYS") ?? [],
    /** Numbers of the lanes to use, ascending. */
    lanes: reader.lanes(),
    leaseSeconds: reader.read("LEASE_SECONDS"),
    /** Seconds before an unmined transaction is sent to the node again. Only tests change it. */
    rebroadcastSeconds: 5,
    replaceSeconds: reader.read("REPLACE_SECONDS"),
    maxFeeGwei: reader.read("MAX_FEE_GWEI"),
    /** null: the default depends on the chain (`api/context/chain-defaults.ts`). */
    blockPollSeconds: reader.optional("BLOCK_POLL_SECONDS"),
    /** null: the default depends on the chain, too. */
    confirmations: reader.optional("CONFIRMATIONS"),
    /** null: no limit. */
    appGasPerDay: reader.optional("APP_GAS_PER_DAY"),
    appQuotas: reader.read("APP_QUOTAS"),
    allowedPrivateHosts: reader.optional("ALLOWED_PRIVATE_HOSTS") ?? [],
    mediaStore: reader.mediaStore(reader.optional("MEDIA_STORE")),
    /** null: `ipfs://` media that is not stored here is refused. */
    ipfsGateway: reader.optional("IPFS_GATEWAY"),
    /** null: nothing is pinned elsewhere. */
    ipfsPinRpc: reader.optional("IPFS_PIN_RPC"),
    ipfsNode: reader.ipfsNode(),
    retain: reader.retention(),
    collectMediaHours: reader.read("COLLECT_MEDIA_HOURS"),
    roles: reader.read("ROLES"),
    logLevel: reader.read("LOG_LEVEL"),
    limits: reader.limits(),
  };
}

/* Parts of the settings, for commands that need no others. Those others may be invalid. */

function parsePart<T>(env: Environment, read: (reader: Reader) => T): T {
  const reader = new Reader(env);
  const part = read(reader);
  reader.check();
  return part;
}

/** The part that links to the console need. @throws SettingsError */
export function parseLinkSettings(env: Environment) {
  return parsePart(env, (reader) => ({ publicUrl: reader.publicUrl(reader.read("PORT")) }));
}

/** The part that a new app needs. @throws SettingsError */
export function parseAppQuotas(env: Environment) {
  return parsePart(env, (reader) => ({ appQuotas: reader.read("APP_QUOTAS") }));
}

/** The part that `prune` needs. @throws SettingsError */
export function parsePruneSettings(env: Environment) {
  return parsePart(env, (reader) => ({
    databaseUrl: reader.databaseUrl(reader.read("DATA_DIR")),
    retain: reader.retention(),
  }));
}

/** The part that most commands need. @throws SettingsError */
export function parseDatabaseSettings(env: Environment) {
  return parsePart(env, (reader) => ({ databaseUrl: reader.databaseUrl(reader.read("DATA_DIR")) }));
}

/** The part that tells which lanes and which processes count. @throws SettingsError */
export function parseSendingSettings(env: Environment) {
  return parsePart(env, (reader) => ({ lanes: reader.lanes(), leaseSeconds: reader.read("LEASE_SECONDS") }));
}

/** For a command that needs the folder alone. @throws SettingsError */
export function parseDataDir(env: Environment): string {
  return parsePart(env, (reader) => reader.read("DATA_DIR"));
}

/** A media store that a command names. @throws SettingsError */
export function parseMediaStoreText(env: Environment, text: string): MediaStoreSetting {
  return parsePart(env, (reader) => reader.mediaStore(text));
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
  nodes() {
    const several = this.optional("RPC_URLS");
    // A value that is not valid is an empty text until `check`.
    const readOnly = [this.optional("RPC_READ_ONLY") ?? []].flat();
    if (several !== null && this.#text("RPC_URL") !== null)
      this.#problems.push("RPC_URLS: set either this or RPC_URL, not both");
    const rpcUrls: readonly string[] = [several ?? this.read("RPC_URL")].flat();
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
    return {
      /** The first, or only, node. */
      rpcUrl,
      /** All nodes, the preferred one first. */
      rpcUrls,
      /** Nodes that get no transactions: their places in the list, from 1. */
      rpcReadOnly: readOnly,
      /** How many nodes must agree about a block before it is final. */
      rpcAgreement,
      /** Whether the logs of a block must be proven by its receipts. */
      verifyReceipts: this.read("VERIFY_RECEIPTS"),
      /** First and largest sizes of log queries. They adapt to the provider. Only tests change them. */
      logQueries: { blocks: 500, addresses: 500, topicsAbove: 2_000 },
    };
  }

  verification() {
    return {
      verification: {
        sourcifyUrl: this.read("SOURCIFY_URL"),
        etherscanUrl: this.read("ETHERSCAN_URL"),
        /** null: Etherscan is not asked. */
        etherscanKey: this.optional("ETHERSCAN_API_KEY"),
      },
    };
  }

  publicUrl(port: number): string {
    return this.read("PUBLIC_URL", `http://localhost:${port.toString()}`);
  }

  databaseUrl(dataDir: string): string {
    return this.read("DATABASE_URL", defaultDatabase(dataDir));
  }

  /** Where traces are sent; null: nothing is traced. */
  traces() {
    const endpoint = this.optional("OTEL_EXPORTER_OTLP_ENDPOINT");
    const headers = this.optional("OTEL_EXPORTER_OTLP_HEADERS") ?? {};
    const serviceName = this.read("OTEL_SERVICE_NAME");
    return endpoint === null ? null : { endpoint, headers, serviceName };
  }

  /** null: the service runs no IPFS node. All values are multiaddrs. */
  ipfsNode() {
    const listen = this.optional("IPFS_LISTEN");
    /** Empty: the listen addresses. */
    const announce = this.optional("IPFS_ANNOUNCE") ?? [];
    /** Empty: the node waits for others to connect. */
    const bootstrap = this.optional("IPFS_BOOTSTRAP") ?? PUBLIC_BOOTSTRAP;
    return listen === null ? null : { listen, announce, bootstrap };
  }

  retention(): Retention {
    return { days: this.read("RETAIN_DAYS"), failedDays: this.read("RETAIN_FAILED_DAYS") };
  }

  limits(): Limits {
    const limits: Limits = { ...DEFAULT_LIMITS };
    for (const [variable, setting] of Object.entries(LIMITS))
      if ("limit" in setting) limits[setting.limit] = this.read(variable as Variable) as number;
    return limits;
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
    const problems = [...this.#problems, ...removedSettings(this.#env).errors];
    if (problems.length > 0) throw new SettingsError(problems, settingsFileOf(this.#env) ?? undefined);
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
