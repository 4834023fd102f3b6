import type { Records } from "../scene/records.ts";

/** The service under test: its database and its processes. */
export interface Service {
  readonly databaseUrl: string;
  /** URLs of the processes with the role `api`. */
  readonly apiUrls: readonly string[];
  /** Starts what does not run. */
  start(): Promise<void>;
  /** Kills the processes that ask the chain for nonces, and starts them again. */
  restartSenders(): Promise<void>;
  /** Kills everything. */
  kill(): Promise<void>;
  /** Opens the database for the campaign itself. */
  records(): Promise<Records>;
  /** A sentence for each process that ended although the campaign did not end it, since the last call. */
  unexpectedEnds(): string[];
  /** Kills everything and removes what is not in the folder of the world. */
  stop(): Promise<void>;
}
