/** What one round of the campaign found. */
export interface RoundResult {
  requests: number;
  completed: number;
  failed: number;
  /** Accepted requests that the service does not know, or that lack the effect that their status claims. */
  lost: number;
  /** Effects on chain that no completed request accounts for, and requests with more than one final event. */
  duplicated: number;
  /** Completed requests whose transaction is not in the stored block on the chain, or did not make the token that they name. */
  wrong: number;
  /** Requests that were not final in time. */
  stuck: number;
  /** Any other broken invariant, one sentence each. */
  other: string[];
}

export function isClean(result: RoundResult): boolean {
  return result.lost + result.duplicated + result.wrong + result.stuck + result.other.length === 0;
}
