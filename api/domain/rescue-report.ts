/** `missing`: its source does not give it. `unusable`: it is not metadata. `changed`: its source has another one; the copy stays. */
export const RESCUE_PROBLEMS = ["missing", "unusable", "changed", "too_large"] as const;

/** What the last rescue of an adopted collection has found. */
export interface RescueReport {
  /** When it stored this, in milliseconds since 1970. */
  at: number;
  finished: boolean;
  tokens: number;
  /** Tokens whose metadata is here. */
  served: number;
  /** Of each kind: documents and files, and the first tokens; null: the collection itself. */
  problems: { problem: (typeof RESCUE_PROBLEMS)[number]; count: number; token_ids: (string | null)[] }[];
}
