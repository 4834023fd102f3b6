import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

import type { Environment } from "../../config/settings.ts";
import { type Digest, writeHashed } from "../../shared/hashed-files.ts";
import { OperatorError } from "../operator-error.ts";

/** Where the programs are, and the environment that they get. */
export interface PostgresPrograms {
  /** Folder of the programs; null: they are on PATH. */
  folder: string | null;
  env: Environment;
}

type Name = "pg_dump" | "pg_restore";

/** So that the owner and the rights are those of the user who restores; and nobody is asked for a password. */
const OPTIONS = ["--no-owner", "--no-privileges", "--no-password"];

/**
 * Writes a snapshot of a PostgreSQL database to a new file.
 * @throws OperatorError when `pg_dump` is missing, too old, or fails.
 */
export async function dumpPostgres(
  programs: PostgresPrograms,
  from: { url: string; snapshot: string; server: string },
  file: string,
): Promise<Digest> {
  await requireVersion(programs, "pg_dump", from.server);
  const args = ["--format=custom", `--snapshot=${from.snapshot}`, ...OPTIONS];
  return run(programs, "pg_dump", args, (output) => writeHashed(file, output), from.url);
}

/**
 * Reads a dump to its end and counts the rows of each table.
 * @throws OperatorError when the dump cannot be read.
 */
export function countDumpedRows(programs: PostgresPrograms, file: string): Promise<Record<string, number>> {
  return run(programs, "pg_restore", ["--file=-", file], countCopied);
}

/** Loads a dump into an empty database, in one transaction. @throws OperatorError */
export async function loadPostgres(programs: PostgresPrograms, url: string, file: string): Promise<void> {
  await run(programs, "pg_restore", ["--single-transaction", "--exit-on-error", ...OPTIONS, file], text, url);
}

/** From this version on, the programs send settings to a server that older servers refuse. */
const NEWER_SETTINGS = 17;

/** @throws OperatorError when the program is missing, older than the server, or too new for it. */
export async function requireVersion(programs: PostgresPrograms, name: Name, server: string): Promise<void> {
  const version = / (\d+)(\.\d+)?/.exec(await run(programs, name, ["--version"], text));
  const own = Number(version?.[1] ?? 0);
  const needed = Number.parseInt(server, 10);
  const tooNew = own >= NEWER_SETTINGS && needed < NEWER_SETTINGS;
  if (own >= needed && !tooNew) return;
  const reason = tooNew ? "a server that is so much older cannot restore its dumps" : `an older ${name} cannot read it`;
  throw new OperatorError(
    `${name} is version ${own.toString()}, but the server is PostgreSQL ${server}: ${reason}. ` +
      `Install the client programs of version ${needed.toString()}, and set PG_BIN to their folder.`,
  );
}

/** Rows between `COPY table (...) FROM stdin;` and `\.`. In the data itself, a line `\.` cannot occur. */
async function countCopied(output: Readable): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  let table: string | null = null;
  // In UTF-8 a value may contain U+2028, which ends a line for `readline`. The names of tables are ASCII.
  for await (const line of createInterface({ input: output.setEncoding("latin1") })) {
    if (table === null) {
      table = /^COPY (?:[^\s.(]+\.)?"?([^\s."(]+)"? .*FROM stdin;$/.exec(line)?.[1] ?? null;
      if (table !== null) rows[table] = 0;
    } else if (line === "\\.") table = null;
    else rows[table] = (rows[table] ?? 0) + 1;
  }
  return rows;
}

/** Characters of a program's error output that a message repeats. */
const MOST_WORDS = 2_000;

/**
 * Runs a program until it has ended and its output is read.
 * @param url the database that it connects to, if any.
 * @throws OperatorError when the program is missing or fails; the error of `read`, which is the cause of the program's.
 */
async function run<T>(
  { folder, env }: PostgresPrograms,
  name: Name,
  args: readonly string[],
  read: (output: Readable) => Promise<T>,
  url?: string,
): Promise<T> {
  const connection = url === undefined ? null : libpqConnection(url);
  const child = spawn(
    folder === null ? name : join(folder, name),
    [...args, ...(connection === null ? [] : [`--dbname=${connection.uri}`])],
    // Messages in English, whatever the machine's language is.
    { env: { ...env, ...connection?.env, LC_MESSAGES: "C" }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-MOST_WORDS);
  });
  const [result, ended] = await Promise.allSettled([read(child.stdout), once(child, "close")]);
  if (ended.status === "rejected") throw notStarted(name, folder, ended.reason);
  if (result.status === "rejected") throw result.reason;
  const [code, signal] = ended.value as [number | null, string | null];
  if (code === 0) return result.value;
  throw new OperatorError(`${name} failed (${signal ?? `exit code ${String(code)}`}): ${words.trim()}`);
}

function notStarted(name: Name, folder: string | null, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") return error;
  const place = folder === null ? "not on PATH" : `not in ${folder} (PG_BIN)`;
  return new OperatorError(
    `${name} is ${place}. Install PostgreSQL's client programs (Debian: postgresql-client), or set PG_BIN to their ` +
      "folder. Without them, use the back-ups of your database server: see docs/backups.md.",
    { cause: error },
  );
}

/** Parameters of a URL that PostgreSQL's own programs know too. */
const SHARED = "host port user sslmode sslrootcert sslcert sslkey connect_timeout options target_session_attrs".split(
  " ",
);

/**
 * A DATABASE_URL for `pg_dump` and `pg_restore`. The password goes through the environment, because every user of the
 * machine can see the arguments of a process.
 */
export function libpqConnection(url: string): { uri: string; env: Environment } {
  const parsed = new URL(url);
  const password = decodeURIComponent(parsed.password) || parsed.searchParams.get("password");
  const query = new URLSearchParams();
  for (const name of SHARED) {
    const value = parsed.searchParams.get(name);
    // Node's `pg` knows a mode without a check of the certificate, which is this mode elsewhere.
    if (value !== null) query.set(name, name === "sslmode" && value === "no-verify" ? "require" : value);
  }
  parsed.password = "";
  // These programs read a plus sign as itself.
  parsed.search = query.toString().replaceAll("+", "%20");
  return { uri: parsed.toString(), env: password === null ? {} : { PGPASSWORD: password } };
}
