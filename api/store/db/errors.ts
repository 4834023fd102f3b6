import type { DatabaseError as ServerError } from "pg";

/** Thrown when the database cannot be used. The message says why, and what the operator can do. */
export class DatabaseError extends Error {
  override readonly name: string = "DatabaseError";
}

/**
 * Thrown when the database cannot serve at the moment: the connection is lost, the server is restarting or busy. The same call
 * may succeed later. A write that fails with this error may have been committed.
 */
export class DatabaseUnavailable extends DatabaseError {
  override readonly name = "DatabaseUnavailable";
}

/** Thrown by `openExistingDatabase` when there is no database file, or when the database has no tables. */
export class DatabaseMissing extends DatabaseError {
  override readonly name = "DatabaseMissing";
  /** Path of the SQLite file, or the name of the database on its server. */
  readonly place: string;

  /** @param advice what to do about it. */
  constructor(
    place: string,
    advice = "Set DATA_DIR (or DATABASE_URL) to that of the service, or start the service once: it creates the database.",
  ) {
    super(`There is no database at ${place}. ${advice}`);
    this.place = place;
  }
}

/** Codes of the operating system and of PostgreSQL that mean: there is no connection, or the server cannot serve now. */
const UNREACHABLE = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOENT"];
const LOST = ["ECONNRESET", "EPIPE", "ECONNABORTED", ...UNREACHABLE];
/** Connection exceptions, lack of resources, shutdown or start of the server, a cancelled statement, a read-only standby. */
const UNAVAILABLE = /^(08|53|57P|57014|25P03|25006)/;
/** What `pg` says when a connection ends. These errors have no code. */
const ENDED =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

/** Whether PostgreSQL answered with this error. Told by its fields: with SQLite, `pg` is not loaded. */
export function isOfServer(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

/** PostgreSQL's code: this user may not do that. */
export const NO_PRIVILEGE = "42501";
/** Failures of a transaction that may succeed when it runs again: a deadlock or a serialization failure. */
const REPEATABLE = ["40001", "40P01"];
/** Another transaction has inserted the same key in the meantime. The next run sees its row, and decides otherwise. */
const INSERTED_MEANWHILE = "23505";

export function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Thrown when a transaction was rolled back because a prepared statement of its connection cannot be used any more. */
export class StatementLost extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super("The database cannot be used now: a prepared statement was lost.", { cause });
  }
}

/** Whether the transaction was rolled back, and would not be if it ran again: others ran at the same time, for example. */
export function isRepeatable(error: unknown): boolean {
  return error instanceof StatementLost || REPEATABLE.includes(codeOf(error));
}

/** Thrown in a transaction that finds a row which was inserted after the transaction looked for it. */
export class InsertedMeanwhile extends Error {
  override readonly name = "InsertedMeanwhile";
}

/** Whether a key was there already. It may have been inserted after the transaction looked for it. */
export function isInsertedMeanwhile(error: unknown): boolean {
  return error instanceof InsertedMeanwhile || codeOf(error) === INSERTED_MEANWHILE;
}

export function connectionProblem(reason: string, cause?: unknown): DatabaseUnavailable {
  return new DatabaseUnavailable(`The database cannot be used now: ${reason}.`, { cause });
}

/** An error of a running service, as its callers should see it. */
export function explainedAtRun(error: unknown): unknown {
  const code = codeOf(error);
  if (isOfServer(error)) {
    return UNAVAILABLE.test(code) ? connectionProblem(`${error.message} (${code})`, error) : error;
  }
  if (!(error instanceof Error)) return error;
  return LOST.includes(code) || ENDED.test(error.message)
    ? connectionProblem(code === "" ? error.message : `the connection failed (${code})`, error)
    : error;
}

/** Any error of a commit that the server did not send means a lost connection, whatever it looks like. */
export function explainedAtCommit(error: unknown): unknown {
  if (isOfServer(error) || error instanceof DatabaseUnavailable) return error;
  return connectionProblem(error instanceof Error ? error.message : String(error), error);
}

const WHERE = "Check DATABASE_URL (postgres://user:password@host:port/database)";

/** Why a database cannot be opened, and what to do, by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  "28P01": `the user name or the password is wrong. ${WHERE}.`,
  "28000": `the server refuses this user. ${WHERE}, and the server's pg_hba.conf.`,
  "3D000": "the server has no database of this name. Create it (createdb), or correct DATABASE_URL.",
  "42501":
    "this user may not create tables in it. Make the user its owner, or: grant create, usage on schema public to the user.",
  "53300": "the server has no free connection. Lower DATABASE_POOL, or raise the server's max_connections.",
  "57P03": "the server is starting or stopping. Try again in a moment.",
  "08P01":
    "the server or its pooler does not accept the connection's parameters or its user. Remove the options of DATABASE_URL, and add the user to the list of the pooler.",
};

/**
 * @param name the database without its password.
 * @returns the error with a sentence that says what to do; the error itself when there is nothing to add.
 */
export function explainedAtOpen(name: string, error: unknown): unknown {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  const reason = reasonOf(cause);
  return reason === null ? error : new DatabaseError(`Cannot open the database ${name}: ${reason}`, { cause });
}

function reasonOf(error: unknown): string | null {
  const code = codeOf(error);
  if (UNREACHABLE.includes(code)) {
    return `the server cannot be reached (${code}). Start it, or correct host and port in DATABASE_URL.`;
  }
  const known = REASONS[code];
  if (known !== undefined) return `${known.slice(0, -1)} (${code}).`;
  if (!(error instanceof Error)) return null;
  if (error.message.includes("password must be a string")) return `the server asks for a password. ${WHERE}.`;
  if (/SSL|certificate|self-signed/i.test(error.message)) {
    return `TLS failed: ${error.message}. See sslmode and sslrootcert of DATABASE_URL.`;
  }
  return LOST.includes(code) || ENDED.test(error.message) ? `the connection failed: ${error.message}.` : null;
}

/** Whether the URL names a PostgreSQL database. All others are SQLite files. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** The database as messages show it: without the password, and without options that may contain one. */
export function databaseName(url: string): string {
  if (!isPostgres(url)) return url;
  const parsed = URL.parse(url);
  if (parsed === null) return "at DATABASE_URL";
  const user = parsed.username === "" ? "" : `${parsed.username}@`;
  return `postgres://${user}${parsed.host}${parsed.pathname}`;
}
