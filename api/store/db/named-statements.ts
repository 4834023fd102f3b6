import { createHash } from "node:crypto";

import pg from "pg";

import { codeOf } from "./postgres-errors.ts";

/*
 * A statement with a name is parsed once for each connection, and PostgreSQL may use its plan again. That takes less than half
 * of the time of a short statement. The name belongs to the connection of the server, so a pooler that gives each transaction
 * another one must not see names.
 */

/** A text gets a name at this use. Texts that are made for one use, such as lists of values, get none. */
const NAMED_AT_USE = 5;
/** Most names. For each, the server keeps the parsed statement and its plan in each connection: about 70 kB. */
const MAX_NAMED = 150;
/** Most texts without a name whose uses are counted. */
const MAX_COUNTED = 1_000;
/** Longer texts get no name. */
const LONGEST_TEXT = 10_000;
/**
 * How long plans are kept, in milliseconds. A plan that was made while a table was small may read it from end to end. The
 * server makes it again when it has analyzed the table, which may be a minute later: too late when thousands of rows come at
 * once.
 */
const PLANS_KEPT = 5_000;

/** The statement does not exist, or exists already: the connection is not the one that it was prepared on. */
const OF_ANOTHER_CONNECTION = ["26000", "42P05"];
/** The columns of its result are not those for which it was prepared: a table was altered. */
const CHANGED_RESULT = { code: "0A000", routine: "RevalidateCachedQuery" };

/** Whether the server refused to run a statement because of its name. Nothing of it has run. */
export function isStatementLost(error: unknown): boolean {
  const code = codeOf(error);
  if (OF_ANOTHER_CONNECTION.includes(code)) return true;
  return error instanceof pg.DatabaseError && code === CHANGED_RESULT.code && error.routine === CHANGED_RESULT.routine;
}

/** The statements that the connections of a pool prepare. */
export class NamedStatements {
  readonly #names = new Map<string, string>();
  readonly #uses = new Map<string, number>();
  #usable = true;
  /** Connections of an earlier generation have prepared statements that cannot be used any more. */
  generation = 0;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;

  constructor(now = () => performance.now()) {
    this.now = now;
  }

  /** @returns undefined: run it without a name. */
  nameOf(text: string): string | undefined {
    if (!this.#usable) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size === MAX_NAMED || text.length > LONGEST_TEXT) return undefined;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < NAMED_AT_USE) {
      if (this.#uses.size === MAX_COUNTED) this.#uses.clear();
      this.#uses.set(text, uses);
      return undefined;
    }
    // The name follows from the text, so no name ever stands for two statements.
    const name = `m_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
    this.#uses.delete(text);
    this.#names.set(text, name);
    return name;
  }

  /** The connections that are open now are to be closed after their use. */
  lose(error: unknown): void {
    this.generation += 1;
    // There is a pooler that looks like a server. Without names it cannot do any harm.
    if (OF_ANOTHER_CONNECTION.includes(codeOf(error))) this.#usable = false;
  }
}

/** What a connection knows of its prepared statements. */
export class Session {
  readonly #statements: NamedStatements;
  readonly #generation: number;
  #plannedAt: number | null = null;
  /** Whether the connection leads to the server itself, not to a pooler. */
  isDirect = false;

  constructor(statements: NamedStatements) {
    this.#statements = statements;
    this.#generation = statements.generation;
  }

  get isCurrent(): boolean {
    return this.#generation === this.#statements.generation;
  }

  nameOf(text: string): string | undefined {
    if (!this.isDirect || !this.isCurrent) return undefined;
    const name = this.#statements.nameOf(text);
    if (name !== undefined) this.#plannedAt ??= this.#statements.now();
    return name;
  }

  lose(error: unknown): void {
    this.#statements.lose(error);
  }

  /** Whether the server should forget the plans now. The caller tells it so. */
  takeOldPlans(): boolean {
    if (this.#plannedAt === null || this.#statements.now() - this.#plannedAt < PLANS_KEPT) return false;
    this.#plannedAt = null;
    return true;
  }
}
