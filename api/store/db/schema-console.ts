import type { Selectable } from "kysely";

/** The table of the console. */
export interface ConsoleTables {
  console_sessions: ConsoleSessionsTable;
}

/** A link to the console, and the session that it became when somebody signed in with it. */
interface ConsoleSessionsTable {
  id: string;
  /** null: the operator's, for all apps. */
  app_id: string | null;
  /** JSON array of scopes. */
  scopes: string;
  /** SHA-256 of the link's code, hex. */
  code_hash: string;
  /** SHA-256 of the session's secret, hex; null until the link is used. Neither the code nor the secret is stored. */
  hash: string | null;
  /** When the link was made. */
  created_at: number;
  signed_in_at: number | null;
  /** Until when the link can be used; once it was used, until when the session lasts. */
  expires_at: number;
  /** When the session was used last, to some minutes. */
  used_at: number | null;
  revoked_at: number | null;
}

export type ConsoleSessionRow = Selectable<ConsoleSessionsTable>;
