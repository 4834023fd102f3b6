import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type pg from "pg";

import { isStatementLost, type Session } from "./named-statements.ts";
import { connectionProblem, explainedAtRun, StatementLost } from "./postgres-errors.ts";
import { storableText } from "./postgres-types.ts";

/** Longest time of one statement, in milliseconds. The server ends it then. */
export const STATEMENT_TIMEOUT = 60_000;
/** A statement that is not answered by then has lost its connection, in milliseconds. */
const ANSWER_TIMEOUT = STATEMENT_TIMEOUT + 10_000;

/** One connection of the pool, for as long as Kysely uses it. */
export class PostgresConnection implements DatabaseConnection {
  readonly client: pg.PoolClient;
  readonly #session: Session;
  inTransaction = false;
  /** Whether the connection must be closed, because its state is not known. */
  broken = false;

  constructor(client: pg.PoolClient, session: Session) {
    this.client = client;
    this.#session = session;
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters.map((value) => (typeof value === "string" ? storableText(value) : value));
    const name = values.length === 0 ? undefined : this.#session.nameOf(text);
    const { command, rowCount, rows } = await this.#run<R & pg.QueryResultRow>({ name, text, values });
    const changes = ["INSERT", "UPDATE", "DELETE", "MERGE"].includes(command);
    return changes ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  }

  async #run<R extends pg.QueryResultRow>({ name, text, values = [] }: pg.QueryConfig): Promise<pg.QueryResult<R>> {
    try {
      return await this.#answered(this.client.query<R>({ name, text, values }));
    } catch (error) {
      if (name === undefined || !isStatementLost(error)) throw error;
      this.#session.lose(error);
      this.broken = true;
      // The server has ended the transaction.
      if (this.inTransaction) throw new StatementLost(error);
      return this.#answered(this.client.query<R>({ text, values }));
    }
  }

  /** Runs statements without parameters, in one message. */
  async command(text: string): Promise<string> {
    return (await this.answerTo(text))?.command ?? "";
  }

  /** The answer to the last of several statements without parameters. */
  async answerTo(text: string): Promise<pg.QueryResult | undefined> {
    // `pg` answers several statements with several results, which its types do not say.
    const answer = (await this.#answered(this.client.query(text))) as pg.QueryResult | pg.QueryResult[];
    return Array.isArray(answer) ? answer.at(-1) : answer;
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    await Promise.reject(new Error("streaming is not supported"));
  }

  async #answered<T>(answer: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.broken = true;
      reject(connectionProblem("it did not answer in time"));
    }, ANSWER_TIMEOUT);
    try {
      return await Promise.race([answer, promise]);
    } catch (error) {
      throw explainedAtRun(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
