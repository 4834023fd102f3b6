import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import type { z } from "zod";

import type { Retention } from "../domain/retention.ts";
import { CRASH_POINTS, type CrashPoint, FURTHER_CRASH_POINTS } from "../shared/crash-point.ts";
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
  const points = [...CRASH_POINTS, ...FURTHER_CRASH_POINTS];
  const point = points.find((known) => known === text);
  if (point === undefined) throw new SettingsError([`CRASH_POINT: must be one of ${points.join(", ")}`]);
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

/** What the service and its commands get, each read when it is asked for. `null`: a setting is not set and has no default. */
const SETTINGS = {
  port: (env: Reader) => env.read("PORT"),
  host: (env: Reader) => env.read("HOST"),
  /** null: nothing is measured. */
  metricsPort: (env: Reader) => env.optional("METRICS_PORT"),
  metricsHost: (env: Reader) => env.read("METRICS_HOST"),
  /** Where traces are sent; null: nothing is traced. */
  traces: (env: Reader) => {
    const endpoint = env.optional("OTEL_EXPORTER_OTLP_ENDPOINT");
    const headers = env.optional("OTEL_EXPORTER_OTLP_HEADERS") ?? {};
    const serviceName = env.read("OTEL_SERVICE_NAME");
    return endpoint === null ? null : { endpoint, headers, serviceName };
  },
  publicUrl: (env: Reader) => env.read("PUBLIC_URL", `http://localhost:${env.read("PORT").toString()}`),
  /** Block explorer of the chain. */
  explorerUrl: (env: Reader) => env.optional("EXPLORER_URL"),
  verification: (env: Reader) => ({
    sourcifyUrl: env.read("SOURCIFY_URL"),
    etherscanUrl: env.read("ETHERSCAN_URL"),
    /** null: Etherscan is not asked. */
    etherscanKey: env.optional("ETHERSCAN_API_KEY"),
  }),
  /** Proxies whose `X-Forwarded-For` header is believed: addresses, networks, names of ranges. */
  trustProxy: (env: Reader) => env.optional("TRUST_PROXY") ?? [],
  /** All nodes, the preferred one first. */
  rpcUrls: (env: Reader) => env.nodes(),
  /** The first, or only, node. */
  rpcUrl: (env: Reader) => env.nodes()[0] ?? "",
  /** Nodes that get no transactions: their places in the list, from 1. */
  rpcReadOnly: (env: Reader) => env.readOnlyNodes(),
  /** How many nodes must agree about a block before it is final. */
  rpcAgreement: (env: Reader) => env.agreement(),
  /** Whether the logs of a block must be proven by its receipts. */
  verifyReceipts: (env: Reader) => env.read("VERIFY_RECEIPTS"),
  /** First and largest sizes of log queries. They adapt to the provider. Only tests change them. */
  logQueries: () => ({ blocks: 500, addresses: 500, topicsAbove: 2_000 }),
  dataDir: (env: Reader) => env.read("DATA_DIR"),
  deploymentsDir: (env: Reader) => env.read("DEPLOYMENTS_DIR"),
  /** Hashes of contract code that is accepted besides that of the releases. */
  allowedContractCode: (env: Reader) => env.optional("ALLOWED_CONTRACT_CODE") ?? [],
  databaseUrl: (env: Reader) => env.read("DATABASE_URL", defaultDatabase(env.read("DATA_DIR"))),
  databasePool: (env: Reader) => env.read("DATABASE_POOL"),
  /** null: `pg_dump` and `pg_restore` are on PATH. */
  pgBin: (env: Reader) => env.optional("PG_BIN"),
  seedFile: (env: Reader) => env.read("SEED_FILE", join(env.read("DATA_DIR"), "seed.jwe")),
  seedPassphrase: (env: Reader) => env.seedPassphrase(),
  /** null: the extended public key of the wallets' root comes from the seed. */
  xpub: (env: Reader) => env.optional("XPUB"),
  /** Newest first; empty when none is set. */
  secretKeys: (env: Reader) => env.optional("SECRET_KEYS") ?? [],
  /** Numbers of the lanes to use, ascending. */
  lanes: (env: Reader) => env.lanes(),
  leaseSeconds: (env: Reader) => env.read("LEASE_SECONDS"),
  /** Seconds before an unmined transaction is sent to the node again. Only tests change it. */
  rebroadcastSeconds: () => 5,
  replaceSeconds: (env: Reader) => env.read("REPLACE_SECONDS"),
  maxFeeGwei: (env: Reader) => env.read("MAX_FEE_GWEI"),
  /** null: the default depends on the chain (`api/context/chain-identity.ts`). */
  blockPollSeconds: (env: Reader) => env.optional("BLOCK_POLL_SECONDS"),
  /** null: the default depends on the chain, too. */
  confirmations: (env: Reader) => env.optional("CONFIRMATIONS"),
  /** null: no limit. */
  appGasPerDay: (env: Reader) => env.optional("APP_GAS_PER_DAY"),
  appQuotas: (env: Reader) => env.read("APP_QUOTAS"),
  allowedPrivateHosts: (env: Reader) => env.optional("ALLOWED_PRIVATE_HOSTS") ?? [],
  mediaStore: (env: Reader) => env.mediaStore(env.optional("MEDIA_STORE")),
  /** null: `ipfs://` media that is not stored here is refused. */
  ipfsGateway: (env: Reader) => env.optional("IPFS_GATEWAY"),
  /** null: nothing is pinned elsewhere. */
  ipfsPinRpc: (env: Reader) => env.optional("IPFS_PIN_RPC"),
  /** null: the service runs no IPFS node. All values are multiaddrs. */
  ipfsNode: (env: Reader) => {
    const listen = env.optional("IPFS_LISTEN");
    /** Empty: the listen addresses. */
    const announce = env.optional("IPFS_ANNOUNCE") ?? [];
    /** Empty: the node waits for others to connect. */
    const bootstrap = env.optional("IPFS_BOOTSTRAP") ?? PUBLIC_BOOTSTRAP;
    return listen === null ? null : { listen, announce, bootstrap };
  },
  retain: (env: Reader): Retention => ({ days: env.read("RETAIN_DAYS"), failedDays: env.read("RETAIN_FAILED_DAYS") }),
  collectMediaHours: (env: Reader) => env.read("COLLECT_MEDIA_HOURS"),
  roles: (env: Reader) => env.read("ROLES"),
  logLevel: (env: Reader) => env.read("LOG_LEVEL"),
  limits: (env: Reader) => {
    const limits: Limits = { ...DEFAULT_LIMITS };
    for (const [variable, setting] of Object.entries(LIMITS))
      if ("limit" in setting) limits[setting.limit] = env.read(variable as Variable) as number;
    return limits;
  },
};

export type Settings = { [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]> };

/** @throws SettingsError */
export function parseSettings(env: Environment): Settings {
  return pickSettings(env, ...(Object.keys(SETTINGS) as (keyof Settings)[]));
}

/** For a command that needs no others: those may be invalid. @throws SettingsError */
export function pickSettings<Name extends keyof Settings>(env: Environment, ...names: Name[]): Pick<Settings, Name> {
  const reader = new Reader(env);
  const picked = Object.fromEntries(names.map((name) => [name, SETTINGS[name](reader)]));
  reader.check();
  return picked as Pick<Settings, Name>;
}

/** A media store that a command names. @throws SettingsError */
export function parseMediaStoreText(env: Environment, text: string): MediaStoreSetting {
  const reader = new Reader(env);
  const store = reader.mediaStore(text);
  reader.check();
  return store;
}

export function defaultDatabase(dataDir: string): string {
  return `file:${join(dataDir, "moneta.sqlite")}`;
}

/** Reads variables and collects every problem, so that one error can list them all. */
class Reader {
  readonly #env: Environment;
  readonly #problems = new Set<string>();

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

  /** From `RPC_URLS`, or the one of `RPC_URL`. A value that is not valid is an empty text until `check`. */
  nodes(): readonly string[] {
    const several = this.optional("RPC_URLS");
    if (several !== null && this.#text("RPC_URL") !== null)
      this.#problems.add("RPC_URLS: set either this or RPC_URL, not both");
    return [several ?? this.read("RPC_URL")].flat();
  }

  readOnlyNodes(): readonly number[] {
    const nodes = this.nodes();
    const readOnly = [this.optional("RPC_READ_ONLY") ?? []].flat();
    if (readOnly.some((number) => number > nodes.length))
      this.#problems.add(`RPC_READ_ONLY: there are only ${plural(nodes.length, "node")}`);
    else if (nodes.every((_, index) => readOnly.includes(index + 1)))
      this.#problems.add("RPC_READ_ONLY: at least one node must get transactions");
    return readOnly;
  }

  agreement(): number {
    const [nodes, agreement] = [this.nodes(), this.read("RPC_AGREEMENT")];
    if (agreement > nodes.length)
      this.#problems.add(
        `RPC_AGREEMENT: ${plural(agreement, "node")} cannot agree, because RPC_URLS names only ${nodes.length.toString()}`,
      );
    return agreement;
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
    this.#problems.add(`MEDIA_STORE: ${setting}`);
    return { kind: "files" };
  }

  /** From its variable, or from the file that another variable names. */
  seedPassphrase(): string | null {
    const [given, file] = [this.optional("SEED_PASSPHRASE"), this.optional("SEED_PASSPHRASE_FILE")];
    if (file === null) return given;
    const text = given === null ? readSecret(file) : { problem: "set either this or SEED_PASSPHRASE, not both" };
    if (typeof text === "string") return text;
    this.#problems.add(`SEED_PASSPHRASE_FILE: ${text.problem}`);
    return null;
  }

  lanes(): number[] {
    const [count, retired] = [this.read("LANES"), this.optional("RETIRED_LANES") ?? []];
    const lanes = lanesInUse(count, retired);
    if (lanes.length < count) {
      const most = (MOST_LANES - retired.length).toString();
      this.#problems.add(
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
    for (const issue of result.error.issues) this.#problems.add(`${variable}: ${wordsOf(issue)}`);
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
