import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { FoundKeys } from "../keys/found-keys.ts";
import type { Database } from "../store/db/database.ts";

export const RESULTS = ["ok", "warning", "problem"] as const;
export type Result = (typeof RESULTS)[number];

/** One thing that a check saw, in words that say what to do where something is to be done. */
export interface Finding {
  result: Result;
  words: string;
}

/** What the checks look at. Nothing of it is changed by any of them. */
export interface DoctorContext {
  database: Database;
  client: ChainClient;
  /** As the database remembers them. */
  chain: { chainId: string; genesis: string; contracts: ContractAddresses };
  keys: FoundKeys;
  hostedBase: string;
  lanes: number;
  /** RPC address of the operator's IPFS node; null: there is none. */
  pinRpc: string | null;
  /** Looks at everything, not only at what is recent. */
  thorough: boolean;
  now: number;
}

export interface Check {
  /** One word. */
  name: string;
  /** Whether it must ask the node: then it is left out while the node is away. */
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

/** `seconds`, `minutes` or `hours`, whichever says it in a small number. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 120) return `${seconds.toString()} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60).toString()} min`;
  return `${Math.round(seconds / 3_600).toString()} h`;
}

/** The first few of many, for a sentence. */
export function some(names: readonly string[], most = 5): string {
  const left = names.length - most;
  return names.slice(0, most).join(", ") + (left > 0 ? ` and ${left.toString()} more` : "");
}
