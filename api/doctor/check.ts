import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { FoundKeys } from "../keys/found-keys.ts";
import type { Database } from "../store/db/database.ts";

export const RESULTS = ["ok", "warning", "problem"] as const;
export type Result = (typeof RESULTS)[number];

/** One result of a check. A warning or a problem also says what to do next. */
export interface Finding {
  result: Result;
  words: string;
}

/** What the checks read. No check changes anything. */
export interface DoctorContext {
  database: Database;
  client: ChainClient;
  /** As stored in the database. */
  chain: { chainId: string; genesis: string; contracts: ContractAddresses };
  keys: FoundKeys;
  hostedBase: string;
  lanes: number;
  /** RPC address of the operator's IPFS node; null when none is set. */
  pinRpc: string | null;
  /** Check everything, not only recent rows. */
  thorough: boolean;
  now: number;
}

export interface Check {
  /** One word. */
  name: string;
  /** Whether the check needs the node. Such a check is skipped while the node does not answer. */
  asksChain: boolean;
  run(context: DoctorContext): Promise<Finding[]>;
}

export function ok(words: string): Finding {
  return { result: "ok", words };
}

export function warning(words: string): Finding {
  return { result: "warning", words };
}

export function problem(words: string): Finding {
  return { result: "problem", words };
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
