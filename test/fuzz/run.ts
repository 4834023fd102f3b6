import fc from "fast-check";

import { type Conformance, NotAsDocumented } from "../support/conformance.ts";
import { anyCall } from "./calls.ts";
import type { Callers } from "./headers.ts";
import { type FuzzCall, Sender } from "./send.ts";
import type { World } from "./values.ts";

interface FuzzOptions {
  baseUrl: string;
  conformance: Conformance;
  world: World;
  callers: Callers;
  requests: number;
  seed: number;
}

interface FuzzReport {
  /** How often each operation of the document was answered with each status. */
  counts: Map<string, Map<number, number>>;
  /** Ids of accepted requests. */
  accepted: Set<string>;
  /** Duration of the slowest answer in milliseconds. */
  slowest: number;
  /** The smallest call with a wrong answer, and the reason; null when every answer was right. */
  finding: string | null;
}

/** Milliseconds after which an answer counts as missing. */
const TIMEOUT = 60_000;

/** Sends invalid calls and checks every answer against the OpenAPI document. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { baseUrl, conformance, world, callers, requests, seed } = options;
  const sender = new Sender(baseUrl, TIMEOUT);
  const report: FuzzReport = { counts: new Map(), accepted: new Set(), slowest: 0, finding: null };
  const property = fc.asyncProperty(anyCall(conformance, world, callers), async (call) => {
    const ids = await checkAnswer(call, sender, conformance, report);
    // The target app cannot read requests of other apps.
    if (call.headers["authorization"]?.endsWith(callers.tokens[0] ?? "") !== true) return;
    for (const id of ids) report.accepted.add(id);
  });
  try {
    const result = await fc.check(property, { numRuns: requests, seed, endOnFailure: false });
    if (result.failed) report.finding = describe(result.counterexample?.[0] ?? null, result.errorInstance, seed);
  } finally {
    sender.close();
  }
  return report;
}

/** @returns the ids of the accepted requests. @throws NotAsDocumented */
async function checkAnswer(
  call: FuzzCall,
  sender: Sender,
  conformance: Conformance,
  report: FuzzReport,
): Promise<string[]> {
  const started = performance.now();
  const { status, headers, text } = await sender.send(call);
  report.slowest = Math.max(report.slowest, performance.now() - started);
  const statuses = report.counts.get(call.origin) ?? new Map<number, number>();
  report.counts.set(call.origin, statuses.set(status, (statuses.get(status) ?? 0) + 1));
  if (status >= 500) throw new NotAsDocumented(`${status}: ${text}`);
  conformance.check({ method: call.method, path: call.path, status, headers, text });
  // The HTTP parser refuses some calls before they get an id.
  if (status !== 413 && status !== 400 && !headers.has("x-request-id")) throw new NotAsDocumented("no X-Request-Id");
  if (!/^\{("results":\[.*\]|"request_id":"[0-9a-f]{64}")\}$/.test(text)) return [];
  return [...text.matchAll(/\{"request_id":"([0-9a-f]{64})"\}/g)].flatMap(([, id]) => id ?? []);
}

const SHOWN = 3_000;

function describe(call: FuzzCall | null, error: unknown, seed: number): string {
  const why =
    error instanceof Error
      ? `${error.name}: ${error.message}${error.cause instanceof Error ? ` (${error.cause.message})` : ""}`
      : String(error);
  return `seed ${seed}\n${why}\n${JSON.stringify(call, null, 2).slice(0, SHOWN)}`;
}

/** The number of answers. */
export function answered({ counts }: FuzzReport): number {
  return [...counts.values()].flatMap((statuses) => [...statuses.values()]).reduce((sum, count) => sum + count, 0);
}

/** One line per operation: how often each status was answered. */
export function countsTable({ counts }: FuzzReport): string {
  return [...counts]
    .map(([origin, statuses]) => {
      const parts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      return `  ${origin.padEnd(58)} ${parts.join(", ")}`;
    })
    .sort()
    .join("\n");
}
