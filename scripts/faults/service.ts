import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

import BetterSqlite3 from "better-sqlite3";

import { createKeyring } from "../../api/keys/keyring.ts";
import { newSeedPhrase, writeSeedFile } from "../../api/keys/seed-file.ts";
import type { CrashPoint } from "../../api/shared/crash-point.ts";
import { findPostgres } from "../postgres/programs.ts";
import { freePort } from "../scene/loopback.ts";
import { pause, Program, ROOT } from "../scene/program.ts";
import type { Random } from "../scene/random.ts";
import { openRecords, type Records, withRecords } from "../scene/records.ts";
import { sqliteUrl } from "../scene/scene.ts";
import { ServiceProcess } from "../scene/service.ts";
import { DatabaseServer } from "./database-server.ts";
import type { Engine } from "./options.ts";

/** What the campaign tells a process to do: see `preload.ts`. */
export interface Control {
  clockOffset?: number;
  disk?: "ok" | "full" | "read-only";
  /** The process kills itself when it reaches this point. */
  crashPoint?: CrashPoint;
}

/** A process of the service whose clock and disk the campaign controls. */
export class ControlledService extends ServiceProcess {
  static async open(env: Record<string, string>, log: string): Promise<ControlledService> {
    const service = new ControlledService(env, log, join(import.meta.dirname, "preload.ts"));
    await service.serving();
    return service;
  }

  /** How the process ended, if the campaign did not end it. */
  get unexpectedEnd(): string | null {
    const { exitCode, signalCode } = this.child;
    if (exitCode !== null) return `exit code ${exitCode.toString()}`;
    return signalCode === null || signalCode === "SIGKILL" ? null : signalCode;
  }

  /** Waits until the command is in effect. A process that reaches its crash point may die before it answers. */
  async control(command: Control): Promise<void> {
    await this.ask(command).catch((error: unknown) => {
      if (command.crashPoint === undefined || this.child.signalCode !== "SIGKILL") throw error;
    });
  }
}

/** Bytes that a command prints at most. */
const MOST_OUTPUT = 64 * 1_048_576;

/** The roles, with the number of processes that have each on PostgreSQL. */
const PROCESSES = { api: 2, relayer: 2, indexer: 2, webhooks: 2, media: 2, ipfs: 1 } as const;
export type ProcessRole = keyof typeof PROCESSES;
export const PROCESS_ROLES = Object.keys(PROCESSES) as readonly ProcessRole[];

/** The shortest that the service accepts. */
export const LEASE_SECONDS = 3;

/** A process. When it has died, another takes its place. */
export interface Member {
  /** Its only role; null: it has all. */
  readonly role: ProcessRole | null;
  readonly name: string;
  readonly env: Record<string, string>;
  process: ControlledService | null;
}

interface Lease {
  holder: string | null;
  fence: number;
}

/** The leases of the roles of which one process works. */
const LEASES: Readonly<Partial<Record<ProcessRole, string>>> = {
  relayer: "select lease_holder holder, lease_fence fence from lanes",
  indexer: "select holder, fence from leases where name = 'indexer'",
};

/**
 * The service under test. On SQLite, one process with all roles and its database in a file. On PostgreSQL, eleven processes, two
 * for most roles, which share no folder, as on eleven machines.
 */
export class Service {
  readonly databaseUrl: string;
  readonly members: readonly Member[];
  readonly #database: DatabaseServer | null;
  readonly #folder: string;
  readonly #random: Random;
  #ends: string[] = [];

  private constructor(folder: string, random: Random, database: DatabaseServer | null, members: Member[]) {
    this.#folder = folder;
    this.#random = random;
    this.#database = database;
    this.members = members;
    this.databaseUrl = database?.serviceUrl ?? sqliteUrl(diskOf(folder));
  }

  /** @param isOne whether it is one process also on PostgreSQL, on a server as production has it. */
  static async create(
    { engine, isOne }: { engine: Engine; isOne: boolean },
    folder: string,
    settings: Record<string, string>,
    random: Random,
  ): Promise<Service> {
    const database = engine === "sqlite" ? null : await DatabaseServer.start(random, isOne);
    try {
      const members =
        database === null || isOne
          ? [await oneMember(folder, settings, database)]
          : await membersOf(folder, settings, database.serviceUrl);
      return new Service(folder, random, database, members);
    } catch (error) {
      await database?.stop();
      throw error;
    }
  }

  /** The server of a service on PostgreSQL. */
  get database(): DatabaseServer {
    if (this.#database === null) throw new Error("the service does not use PostgreSQL");
    return this.#database;
  }

  /** URLs of the processes that serve the API. */
  get apiUrls(): readonly string[] {
    return this.of("api").map(({ env }) => `http://127.0.0.1:${String(env["PORT"])}`);
  }

  /** Of a service of one process. */
  get only(): ControlledService {
    return running(this.members[0]);
  }

  /**
   * Starts the processes that do not run. The very first one creates the tables and deploys the contracts.
   * @param more settings for this start.
   */
  async start(more: Record<string, string> = {}): Promise<void> {
    const [first] = this.members;
    if (first?.process === null) await this.#start(first, more);
    await Promise.all(this.members.map((member) => this.#start(member, more)));
  }

  /** Runs a command of the command line with the settings of the first process. @returns its output. @throws when it fails. */
  cli(...words: string[]): Promise<string> {
    return this.cliWith("", ...words);
  }

  /** As `cli`. @param input on standard input. */
  async cliWith(input: string, ...words: string[]): Promise<string> {
    const env = { PATH: process.env["PATH"], ...this.members[0]?.env };
    const options = { cwd: ROOT, env, maxBuffer: MOST_OUTPUT };
    const running = promisify(execFile)(process.execPath, ["api/cli/main.ts", ...words], options);
    running.child.stdin?.end(input);
    return (await running).stdout;
  }

  /** Starts a command of the command line with the settings of the first process. */
  command(...words: string[]): Program {
    return this.commandWith("", ...words);
  }

  /** The same. @param input on standard input. */
  commandWith(input: string, ...words: string[]): Program {
    const env = { PATH: process.env["PATH"], ...this.members[0]?.env };
    const program = new Program(["api/cli/main.ts", ...words], { env, input: true });
    // It may be killed before it has read everything.
    program.child.stdin?.on("error", () => undefined).end(input);
    return program;
  }

  /** Deletes everything of the one process but its keys and back-ups. On PostgreSQL, an empty database takes the place of the old one. */
  async loseDisk(): Promise<void> {
    await rm(diskOf(this.#folder), { recursive: true });
    await this.#database?.recreate();
  }

  /** Kills the processes that ask the chain for nonces, and starts them again. */
  async restartSenders(): Promise<void> {
    await killAll(this.of("relayer"));
    await this.start();
  }

  /** Kills everything. */
  async kill(): Promise<void> {
    await killAll(this.members);
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.#database?.stop();
  }

  /** Opens the database for the campaign itself. */
  records(): Promise<Records> {
    return this.#database?.records() ?? openRecords(this.databaseUrl);
  }

  /** A sentence for each process that ended although the campaign did not end it, since the last call. */
  unexpectedEnds(): string[] {
    for (const member of this.members) this.#noteEnd(member);
    return this.#ends.splice(0);
  }

  of(role: ProcessRole): Member[] {
    return this.members.filter((member) => member.role === role || member.role === null);
  }

  /** A process that does the role's work: of a role whose processes stand by, one that has a lease. */
  async worker(role: ProcessRole): Promise<ControlledService> {
    const pids = new Set((await this.#leases(role)).map(({ holder }) => Number(holder?.split("/")[2])));
    const working = this.of(role).filter(({ process }) => process?.exited === false && pids.has(process.pid));
    return running(this.#random.pick(working.length > 0 ? working : this.of(role)));
  }

  /** Any process of the role; mostly the one that works. */
  async any(role: ProcessRole): Promise<ControlledService> {
    return this.#random.chance(0.75) ? this.worker(role) : running(this.#random.pick(this.of(role)));
  }

  /** Sum of the fencing tokens of a role's leases. It grows each time that a process takes over a lease. */
  async fences(role: ProcessRole): Promise<number> {
    return (await this.#leases(role)).reduce((sum, { fence }) => sum + fence, 0);
  }

  /** How often the pattern matches in the logs so far. */
  async countInLogs(pattern: RegExp): Promise<number> {
    const logs = await Promise.all(this.members.map(({ name }) => readFile(this.#logOf(name), "utf8")));
    return logs.reduce((sum, log) => sum + [...log.matchAll(pattern)].length, 0);
  }

  /** Starts a second process on a database in a file, without an API. */
  startSecond(): Promise<ControlledService> {
    const env = { ...this.members[0]?.env, ROLES: "relayer,indexer,webhooks" };
    return ControlledService.open(env, this.#logOf("second"));
  }

  /** Freezes the process, but not inside a transaction, because that would block a database in a file. */
  async freeze(): Promise<ControlledService> {
    const process = running(this.members[0]);
    for (;;) {
      await pause(process.pid);
      if (canWrite(this.databaseUrl.slice("file:".length))) return process;
      process.signal("SIGCONT");
      await wait(10);
    }
  }

  async #leases(role: ProcessRole): Promise<Lease[]> {
    const query = LEASES[role];
    return query === undefined ? [] : withRecords(this.records(), (records) => records.all<Lease>(query));
  }

  async #start(member: Member, more: Record<string, string>): Promise<void> {
    if (member.process?.exited === false) return;
    this.#noteEnd(member);
    member.process = await ControlledService.open({ ...member.env, ...more }, this.#logOf(member.name));
  }

  #noteEnd({ name, process }: Member): void {
    const end = process?.unexpectedEnd ?? null;
    if (end !== null) this.#ends.push(`${name} ended by itself: ${end}`);
  }

  #logOf(name: string): string {
    return join(this.#folder, `${name}.log`);
  }
}

function running(member: Member | undefined): ControlledService {
  if (member?.process == null) throw new Error("the process is not running");
  return member.process;
}

async function killAll(members: readonly Member[]): Promise<void> {
  await Promise.all(
    members.map(async ({ process }) => {
      if (process?.exited === false) await process.kill();
    }),
  );
}

function canWrite(file: string): boolean {
  const database = new BetterSqlite3(file, { timeout: 0 });
  try {
    database.exec("begin immediate; rollback");
    return true;
  } catch (error) {
    if (error instanceof BetterSqlite3.SqliteError && error.code === "SQLITE_BUSY") return false;
    throw error;
  } finally {
    database.close();
  }
}

/** What a service of one process loses with its disk. */
function diskOf(folder: string): string {
  return join(folder, "disk");
}

/** All roles. Its keys are not on its disk. */
async function oneMember(
  folder: string,
  settings: Record<string, string>,
  database: DatabaseServer | null,
): Promise<Member> {
  const disk = diskOf(folder);
  const env = {
    PORT: (await freePort()).toString(),
    DATA_DIR: disk,
    DEPLOYMENTS_DIR: join(disk, "deployments"),
    MEDIA_STORE: "files",
    PUBLIC_URL: "http://localhost:3000",
    SEED_FILE: join(folder, "seed.jwe"),
    SEED_PASSPHRASE: randomBytes(16).toString("hex"),
    SECRET_KEYS: randomBytes(32).toString("base64"),
    // The back-up needs the programs of the system.
    ...(database === null ? {} : { DATABASE_URL: database.serviceUrl, PG_BIN: findPostgres("system").folder }),
    ...settings,
  };
  return { role: null, name: "service", env, process: null };
}

async function membersOf(folder: string, settings: Record<string, string>, databaseUrl: string): Promise<Member[]> {
  const phrase = newSeedPhrase();
  const seed = { SEED_FILE: join(folder, "seed.jwe"), SEED_PASSPHRASE: randomBytes(16).toString("hex") };
  await writeSeedFile(seed.SEED_FILE, phrase, seed.SEED_PASSPHRASE);
  const sealing = { SECRET_KEYS: randomBytes(32).toString("base64") };
  const secrets: Record<ProcessRole, Record<string, string>> = {
    api: { ...sealing, XPUB: createKeyring(phrase).walletsPublicKey },
    relayer: seed,
    indexer: {},
    webhooks: sealing,
    media: {},
    // It connects to nobody.
    ipfs: { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" },
  };
  const shared = {
    ...settings,
    DEPLOYMENTS_DIR: join(folder, "deployments"),
    DATABASE_URL: databaseUrl,
    LEASE_SECONDS: LEASE_SECONDS.toString(),
    PUBLIC_URL: "http://campaign.example",
  };
  const members: Member[] = [];
  for (const role of PROCESS_ROLES) {
    for (let number = 1; number <= PROCESSES[role]; number++) {
      const name = `${role}-${number.toString()}`;
      const dataDir = join(folder, name);
      await mkdir(dataDir);
      const port = role === "api" ? await freePort() : 0;
      const env = { ...shared, ...secrets[role], ROLES: role, DATA_DIR: dataDir, PORT: port.toString() };
      members.push({ role, name, env, process: null });
    }
  }
  return members;
}
