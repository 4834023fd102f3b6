import { Counter, Gauge, Histogram, type Registry } from "prom-client";

interface Described<L extends string> {
  name: string;
  help: string;
  labels?: readonly L[];
}

/* Each adds a metric of the catalog to a registry. */

export function counter<L extends string = never>(registry: Registry, { name, help, labels }: Described<L>) {
  return new Counter<L>({ name, help, labelNames: labels ?? [], registers: [registry] });
}

export function gauge<L extends string = never>(registry: Registry, { name, help, labels }: Described<L>) {
  return new Gauge<L>({ name, help, labelNames: labels ?? [], registers: [registry] });
}

export function histogram<L extends string = never>(
  registry: Registry,
  { name, help, labels, buckets }: Described<L> & { buckets: readonly number[] },
) {
  return new Histogram<L>({ name, help, labelNames: labels ?? [], buckets: [...buckets], registers: [registry] });
}

interface MetricDescription {
  name: string;
  kind: "counter" | "gauge" | "histogram";
  help: string;
  labels?: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  buckets?: readonly number[];
}

const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const LONG = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600];

/** Every metric of the service. The table in docs/operations.md is made from it. */
export const METRICS = {
  requests: {
    name: "moneta_requests_total",
    kind: "counter",
    help: "Requests that entered a status in this process. The status pending means accepted.",
    labels: ["type", "status", "error_code"],
  },
  requestSent: {
    name: "moneta_request_sent_seconds",
    kind: "histogram",
    help: "Time from accepting a request to committing its signed transaction.",
    labels: ["type"],
    buckets: LONG,
  },
  requestSettled: {
    name: "moneta_request_settled_seconds",
    kind: "histogram",
    help: "Time from accepting a request to its final status.",
    labels: ["type"],
    buckets: LONG,
  },
  backlog: {
    name: "moneta_backlog",
    kind: "gauge",
    help: "Requests that are not final, by state: media (waiting for content), pending (not sent), processing (sent).",
    labels: ["state"],
  },
  backlogOldest: {
    name: "moneta_backlog_oldest_seconds",
    kind: "gauge",
    help: "Age of the oldest request that waits to be sent; 0 when none waits. Requests that wait for media do not count.",
  },
  batchItems: {
    name: "moneta_batch_items",
    kind: "histogram",
    help: "Requests in a batch.",
    buckets: [1, 2, 5, 10, 25, 50, 100, 150, 200, 250],
  },
  batchGas: {
    name: "moneta_batch_gas",
    kind: "histogram",
    help: "Gas that the transaction of a batch used.",
    buckets: [100_000, 250_000, 500_000, 1e6, 2e6, 4e6, 8e6, 12e6, 16_777_216, 30e6],
  },
  laneBalance: {
    name: "moneta_lane_balance_wei",
    kind: "gauge",
    help: "Balance of a lane, which pays for gas.",
    labels: ["lane"],
  },
  laneOldestUnmined: {
    name: "moneta_lane_oldest_unmined_seconds",
    kind: "gauge",
    help: "Age of a lane's oldest batch that is not in a block; 0 when there is none.",
    labels: ["lane"],
  },
  indexLag: {
    name: "moneta_index_lag_blocks",
    kind: "gauge",
    help: "Blocks of the node that the database does not have.",
  },
  reorgDepth: {
    name: "moneta_reorg_depth",
    kind: "histogram",
    help: "Blocks that a chain reorganization removed.",
    buckets: [1, 2, 3, 5, 8, 12, 20, 50, 100],
  },
  rpc: {
    name: "moneta_rpc_seconds",
    kind: "histogram",
    help: "HTTP requests to the chain node. The method is `batch` when a request has calls of several methods.",
    labels: ["method", "outcome"],
    buckets: SHORT,
  },
  nodeUp: {
    name: "moneta_node_up",
    kind: "gauge",
    help: "1 while a node of `RPC_URLS` is used. With one node, this metric and the next three have no values.",
    labels: ["node", "host"],
  },
  nodeHead: {
    name: "moneta_node_head_block",
    kind: "gauge",
    help: "The newest block that a node of `RPC_URLS` has named.",
    labels: ["node", "host"],
  },
  nodeLatency: {
    name: "moneta_node_latency_seconds",
    kind: "gauge",
    help: "How long the last answer of a node of `RPC_URLS` took.",
    labels: ["node", "host"],
  },
  nodeFailures: {
    name: "moneta_node_failures_total",
    kind: "counter",
    help: "Calls that a node of `RPC_URLS` failed, in this process.",
    labels: ["node", "host"],
  },
  webhookAttempts: {
    name: "moneta_webhook_attempts_total",
    kind: "counter",
    help: "Tries to deliver a webhook.",
    labels: ["outcome"],
  },
  webhookOldest: {
    name: "moneta_webhook_oldest_seconds",
    kind: "gauge",
    help: "How long the most overdue webhook delivery has been due; 0 when none is overdue.",
  },
  media: {
    name: "moneta_media_seconds",
    kind: "histogram",
    help: "Tries to copy the media of a request.",
    labels: ["outcome"],
    buckets: LONG,
  },
  quarantined: {
    name: "moneta_quarantined_contracts",
    kind: "gauge",
    help: "Followed contracts in quarantine.",
  },
  parkedRows: {
    name: "moneta_parked_rows",
    kind: "gauge",
    help: "Rows on which the work always fails, by kind. Each is tried again later; the others are not delayed.",
    labels: ["kind"],
  },
  condition: {
    name: "moneta_condition",
    kind: "gauge",
    help: "1 while a state holds that the operator must look at. The log and `doctor` use the same names.",
    labels: ["condition"],
  },
  http: {
    name: "moneta_http_seconds",
    kind: "histogram",
    help: "Calls of the API, by the template of their route.",
    labels: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  eventStreams: {
    name: "moneta_event_streams",
    kind: "gauge",
    help: "Event streams that are open now.",
  },
  streamedEvents: {
    name: "moneta_streamed_events_total",
    kind: "counter",
    help: "Events that were sent in event streams. An event counts once for each stream.",
  },
  eventLoop: {
    name: "moneta_event_loop_delay_seconds",
    kind: "gauge",
    help: "Delay of the event loop in the last seconds, by quantile; 1 is the longest delay.",
    labels: ["quantile"],
  },
  database: {
    name: "moneta_database_seconds",
    kind: "histogram",
    help: "SQL statements, and writes from their call to their commit.",
    labels: ["operation"],
    buckets: [0.0005, ...SHORT],
  },
  prunedRows: {
    name: "moneta_pruned_rows_total",
    kind: "counter",
    help: "Old rows that were deleted.",
    labels: ["kind"],
  },
  collectedBlocks: {
    name: "moneta_collected_blocks_total",
    kind: "counter",
    help: "Blocks of unused media that were deleted on schedule.",
  },
  collectedBytes: {
    name: "moneta_collected_bytes_total",
    kind: "counter",
    help: "Bytes of unused media that were deleted on schedule.",
  },
  databaseBytes: {
    name: "moneta_database_bytes",
    kind: "gauge",
    help: "Size of the database.",
  },
  diskUsed: {
    name: "moneta_disk_used_bytes",
    kind: "gauge",
    help: "Used bytes of the disk that has DATA_DIR.",
  },
  diskFree: {
    name: "moneta_disk_free_bytes",
    kind: "gauge",
    help: "Bytes of the disk that has DATA_DIR which this user can still write.",
  },
  source: {
    name: "moneta_source_up",
    kind: "gauge",
    help: "0 while a source cannot be read: database, chain or disk. The gauges that come from it are then missing.",
    labels: ["source"],
  },
  cpu: {
    name: "process_cpu_seconds_total",
    kind: "counter",
    help: "Processor time of this process.",
  },
  memory: {
    name: "process_resident_memory_bytes",
    kind: "gauge",
    help: "Memory of this process.",
  },
  startTime: {
    name: "process_start_time_seconds",
    kind: "gauge",
    help: "When this process started, in seconds since 1970.",
  },
} as const satisfies Record<string, MetricDescription>;
