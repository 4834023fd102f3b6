import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { Environment } from "../../config/settings.ts";
import { type Digest, readRegular, writeHashed } from "../../shared/hashed-files.ts";
import { OperatorError } from "../operator-error.ts";

/** Where the programs are, and the environment that they get. */
export interface PostgresPrograms {
  /** Folder of the programs; null: they are on PATH. */
  folder: string | null;
  env: Environment;
}

type Name = "pg_dump" | "pg_restore";

/** Characters of a program's error output that a message repeats. */
const MOST_WORDS = 2_000;

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
  const { uri, env } = libpqConnection(from.url);
  const args = ["--format=custom", `--snapshot=${from.snapshot}`, "--no-owner", "--no-privileges", "--no-password"];
  const running = run({ ...programs, env: { ...programs.env, ...env } }, "pg_dump", [...args, `--dbname=${uri}`]);
  running.child.stdin.end();
  const [digest] = await all([writeHashed(file, running.child.stdout), running.ended]);
  return digest;
}

/**
 * Reads a dump to its end and counts the rows of each table.
 * @throws OperatorError when the dump cannot be read.
 */
export async function countDumpedRows(programs: PostgresPrograms, file: string): Promise<Record<string, number>> {
  const running = run(programs, "pg_restore", ["--file=-"]);
  const [, , rows] = await all([feed(running.child, file), running.ended, countCopied(running.child.stdout)]);
  return rows;
}

/**
 * Loads a dump into an empty database, in one transaction. If this process dies, the transaction is rolled back, because
 * the program gets only a part of the dump.
 * @throws OperatorError
 */
export async function loadPostgres(programs: PostgresPrograms, url: string, file: string): Promise<void> {
  const { uri, env } = libpqConnection(url);
  const args = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-password"];
  const running = run({ ...programs, env: { ...programs.env, ...env } }, "pg_restore", [...args, `--dbname=${uri}`]);
  running.child.stdout.resume();
  await all([feed(running.child, file), running.ended]);
}

/** From this version on, the programs send settings to a server that older servers refuse. */
const NEWER_SETTINGS = 17;

/** @throws OperatorError when the program is missing, older than the server, or too new for it. */
export async function requireVersion(programs: PostgresPrograms, name: Name, server: string): Promise<void> {
  const running = run(programs, name, ["--version"]);
  running.child.stdin.end();
  let output = "";
  for await (const chunk of running.child.stdout) output += String(chunk);
  await running.ended;
  const version = / (\d+)(\.\d+)?/.exec(output);
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
  for await (const line of lines(output)) {
    if (table === null) {
      table = /^COPY (?:[^\s.(]+\.)?"?([^\s."(]+)"? .*FROM stdin;$/.exec(line)?.[1] ?? null;
      if (table !== null) rows[table] = 0;
    } else if (line === "\\.") table = null;
    else rows[table] = (rows[table] ?? 0) + 1;
  }
  return rows;
}

/** Lines end with a line feed only: to `readline`, U+2028 in a value ends one too. Only ASCII of a line can be compared. */
async function* lines(output: Readable): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of output as AsyncIterable<Buffer>) {
    const [first = "", ...others] = chunk.toString("latin1").split("\n");
    rest += first;
    for (const next of others) {
      yield rest;
      rest = next;
    }
  }
  if (rest !== "") yield rest;
}

const ENDED_EARLY = ["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_DESTROYED"];

/** Gives a file to a program. A program that ends early says why itself. */
async function feed(child: Running["child"], file: string): Promise<void> {
  try {
    await pipeline(readRegular(file), child.stdin);
  } catch (error) {
    if (!ENDED_EARLY.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

interface Running {
  child: ChildProcess & { stdin: NonNullable<ChildProcess["stdin"]>; stdout: Readable; stderr: Readable };
  /** @throws OperatorError when the program is missing or fails. */
  ended: Promise<void>;
}

function run({ folder, env }: PostgresPrograms, name: Name, args: string[]): Running {
  const child = spawn(folder === null ? name : join(folder, name), args, {
    // Messages in English, whatever the machine's language is.
    env: { ...env, LC_MESSAGES: "C" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-MOST_WORDS);
  });
  const end = async () => {
    try {
      const [code, signal] = (await once(child, "close")) as [number | null, string | null];
      if (code === 0) return;
      throw new OperatorError(`${name} failed (${signal ?? `exit code ${String(code)}`}): ${words.trim()}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      const place = folder === null ? "not on PATH" : `not in ${folder} (PG_BIN)`;
      throw new OperatorError(
        `${name} is ${place}. Install PostgreSQL's client programs (Debian: postgresql-client), or set PG_BIN to their ` +
          "folder. Without them, use the back-ups of your database server: see docs/backups.md.",
        { cause: error },
      );
    }
  };
  const ended = end();
  // Whoever started the program awaits this later; until then, a failure is not an unhandled one.
  ended.catch(() => undefined);
  return { child, ended };
}

/** Like `Promise.all`, but waits for all of them. An error of this machine, such as a full disk, is the cause of the others. */
async function all<T extends readonly Promise<unknown>[]>(work: [...T]): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const results = await Promise.allSettled(work);
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (errors.length > 0) throw errors.find((error) => !(error instanceof OperatorError)) ?? errors[0];
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as {
    [K in keyof T]: Awaited<T[K]>;
  };
}

/** Parameters of a URL that PostgreSQL's own programs know too. */
const SHARED = [
  "host",
  "port",
  "user",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connect_timeout",
  "options",
  "target_session_attrs",
];

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
