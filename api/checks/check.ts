import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { Settings } from "../config/settings.ts";
import type { Condition } from "../domain/conditions.ts";
import type { FoundKeys } from "../keys/seed-file.ts";
import type { Database } from "../store/db/database.ts";
import type { ConditionState } from "./condition-checks.ts";

export const RESULTS = ["ok", "warning", "problem"] as const;
export type Result = (typeof RESULTS)[number];

/** One result of a check. A warning or a problem also says what to do next. */
export interface Finding {
  result: Result;
  words: string;
  /** The name under which the log and `/metrics` report this, too. */
  condition?: Condition;
}

/** What the checks read. No check changes anything. */
export interface DoctorContext {
  database: Database;
  client: ChainClient;
  /** As stored in the database. */
  chain: { chainId: string; genesis: string; contracts: ContractAddresses };
  keys: FoundKeys;
  hostedBase: string;
  settings: Settings;
  /** Check everything, not only recent rows. */
  thorough: boolean;
  now: number;
  /** Reads what the service watches, each part once. */
  state: { [P in keyof ConditionState]: () => Promise<ConditionState[P]> };
}

export interface Check {
  /** One word. */
  name: string;
  /** Whether the check needs the node. Such a check is skipped while the node does not answer. */
  asksChain: boolean;
  run(context: DoctorContext): Promise<Finding | Finding[]>;
}

export function ok(words: string): Finding {
  return { result: "ok", words };
}

export function warning(words: string, condition?: Condition): Finding {
  return finding("warning", words, condition);
}

export function problem(words: string, condition?: Condition): Finding {
  return finding("problem", words, condition);
}

function finding(result: Result, words: string, condition: Condition | undefined): Finding {
  return condition === undefined ? { result, words } : { result, words, condition };
}

/** In seconds, minutes or hours, whichever gives a small number. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 120) return `${seconds.toString()} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60).toString()} min`;
  return `${Math.round(seconds / 3_600).toString()} h`;
}

/** The first few of many names, for a sentence. */
export function some(names: readonly string[], most = 5): string {
  const left = names.length - most;
  return names.slice(0, most).join(", ") + (left > 0 ? ` and ${left.toString()} more` : "");
}
