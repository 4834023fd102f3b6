/** What a process has used since it started. */
export interface Usage {
  reads: number;
  writes: number;
  /** `begin`, `commit`, savepoints. */
  transactionControl: number;
  prepared: number;
  rpcCalls: number;
  /** HTTP exchanges that carried them. */
  rpcExchanges: number;
  rpcByMethod: Record<string, number>;
  /** User and system time. */
  cpuMs: number;
  /** Since the last look. */
  loopDelayMaxMs: number;
  loopDelayP99Ms: number;
}

export interface UsagePerRequest {
  statements: number;
  writes: number;
  transactionControl: number;
  rpcCalls: number;
  rpcExchanges: number;
  cpuMs: number;
  loopDelayMaxMs: number;
  loopDelayP99Ms: number;
}

/** What `requests` requests used between two looks, for each of them. The delays are of the whole time. */
export function usagePerRequest(before: Usage, after: Usage, requests: number): UsagePerRequest {
  const each = (pick: (usage: Usage) => number) => (pick(after) - pick(before)) / requests;
  return {
    statements: each((usage) => usage.reads + usage.writes),
    writes: each((usage) => usage.writes),
    transactionControl: each((usage) => usage.transactionControl),
    rpcCalls: each((usage) => usage.rpcCalls),
    rpcExchanges: each((usage) => usage.rpcExchanges),
    cpuMs: each((usage) => usage.cpuMs),
    loopDelayMaxMs: after.loopDelayMaxMs,
    loopDelayP99Ms: after.loopDelayP99Ms,
  };
}
