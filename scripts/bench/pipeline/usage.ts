/** The resources that a process has used since it started. */
export interface Usage {
  reads: number;
  writes: number;
  /** `begin`, `commit`, savepoints. */
  transactionControl: number;
  prepared: number;
  rpcCalls: number;
  /** HTTP requests that carried the RPC calls. */
  rpcExchanges: number;
  rpcByMethod: Record<string, number>;
  /** User and system time. */
  cpuMs: number;
  /** Since the previous reading. */
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

/** The usage per request between two readings. The event-loop delays are those of the whole interval. */
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
