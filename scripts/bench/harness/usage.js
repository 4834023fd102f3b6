/** The usage of a process with two threads. CPU time counts for the whole process, and the delay is that of HTTP. */
export function sumOf(http, workers) {
    const rpcByMethod = { ...http.rpcByMethod };
    for (const [method, count] of Object.entries(workers.rpcByMethod))
        rpcByMethod[method] = (rpcByMethod[method] ?? 0) + count;
    return {
        ...http,
        reads: http.reads + workers.reads,
        writes: http.writes + workers.writes,
        transactionControl: http.transactionControl + workers.transactionControl,
        prepared: http.prepared + workers.prepared,
        rpcCalls: http.rpcCalls + workers.rpcCalls,
        rpcExchanges: http.rpcExchanges + workers.rpcExchanges,
        rpcByMethod,
        workersDelayMaxMs: workers.loopDelayMaxMs,
    };
}
/** The usage of several processes. The delays are the longest of any of them. */
export function sumOfAll([first, ...others]) {
    if (first === undefined)
        throw new Error("there is no process");
    return others.reduce((all, one) => ({
        ...sumOf(all, one),
        cpuMs: all.cpuMs + one.cpuMs,
        loopDelayMaxMs: Math.max(all.loopDelayMaxMs, one.loopDelayMaxMs),
        loopDelayP99Ms: Math.max(all.loopDelayP99Ms, one.loopDelayP99Ms),
        workersDelayMaxMs: all.workersDelayMaxMs,
    }), first);
}
/** The usage per request between two readings. The event-loop delays are those of the whole interval. */
export function usagePerRequest(before, after, requests) {
    const each = (pick) => (pick(after) - pick(before)) / requests;
    return {
        statements: each((usage) => usage.reads + usage.writes),
        writes: each((usage) => usage.writes),
        transactionControl: each((usage) => usage.transactionControl),
        rpcCalls: each((usage) => usage.rpcCalls),
        rpcExchanges: each((usage) => usage.rpcExchanges),
        cpuMs: each((usage) => usage.cpuMs),
        loopDelayMaxMs: after.loopDelayMaxMs,
        loopDelayP99Ms: after.loopDelayP99Ms,
        workersDelayMaxMs: after.workersDelayMaxMs,
    };
}
/** The usage per request of several intervals with as many requests each. The delays are the longest. */
export function meanOf(usages) {
    const mean = (pick) => usages.reduce((sum, usage) => sum + pick(usage), 0) / usages.length;
    const longest = (pick) => Math.max(...usages.map(pick));
    const workers = longest((usage) => usage.workersDelayMaxMs ?? -1);
    return {
        statements: mean((usage) => usage.statements),
        writes: mean((usage) => usage.writes),
        transactionControl: mean((usage) => usage.transactionControl),
        rpcCalls: mean((usage) => usage.rpcCalls),
        rpcExchanges: mean((usage) => usage.rpcExchanges),
        cpuMs: mean((usage) => usage.cpuMs),
        loopDelayMaxMs: longest((usage) => usage.loopDelayMaxMs),
        loopDelayP99Ms: longest((usage) => usage.loopDelayP99Ms),
        workersDelayMaxMs: workers < 0 ? null : workers,
    };
}
/** What each request used, as lines of text. */
export function usageOf(usage) {
    const workers = usage.workersDelayMaxMs;
    return [
        `  ${usage.statements.toFixed(2)} SQL statements, of which ${usage.writes.toFixed(2)} write`,
        `  ${usage.transactionControl.toFixed(2)} of begin, commit and savepoints`,
        `  ${usage.rpcCalls.toFixed(3)} RPC calls in ${usage.rpcExchanges.toFixed(3)} exchanges`,
        `  ${usage.cpuMs.toFixed(2)} ms of CPU in the service, ${usage.nodeCpuMs?.toFixed(2) ?? "unknown"} ms in the node`,
        `  event loop delayed by at most ${usage.loopDelayMaxMs.toFixed(0)} ms, p99 ${usage.loopDelayP99Ms.toFixed(0)} ms` +
            (workers === null ? "" : `; that of the background workers by at most ${workers.toFixed(0)} ms`),
    ].join("\n");
}
