import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { sqliteFiles, startPostgres } from "./databases.ts";
import { accepting } from "./parts/accepting.ts";
import { alone } from "./parts/alone.ts";
import { batches } from "./parts/batches.ts";
import type { Part } from "./parts/part.ts";
import { processes } from "./parts/processes.ts";
import { settling } from "./parts/settling.ts";
import { meetsGoal, ratioOf, type Row, tableOf } from "./row.ts";

/**
 * `npm run bench:pipeline [-- --quick] [--engine postgres] [--part NAME] [--json FILE] [--cpu-prof FOLDER]`: measures the
 * throughput of the service. Each figure has a baseline from the same run, on the same machine, with the same node.
 * Compare the ratios: absolute figures depend on the machine. Everything listens on loopback. A slow result is reported
 * and is not an error.
 */

const PARTS: Part[] = [alone, settling, batches, accepting, processes];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    part: { type: "string" },
    // "postgres": on a PostgreSQL server of the benchmark's own, with rows for several processes.
    engine: { type: "string", default: "sqlite" },
    // The parts "settling" and "accepting" write CPU profiles of the service, and print the cost of each package.
    "cpu-prof": { type: "string" },
  },
});
const parts = values.part === undefined ? PARTS : PARTS.filter((part) => part.name === values.part);
if (parts.length === 0) {
  console.error(`--part must be one of ${PARTS.map((part) => part.name).join(", ")}`);
  process.exit(2);
}

if (values.engine !== "sqlite" && values.engine !== "postgres") {
  console.error("--engine must be sqlite or postgres");
  process.exit(2);
}

const profiles = values["cpu-prof"] === undefined ? null : resolve(values["cpu-prof"]);
if (profiles !== null) mkdirSync(profiles, { recursive: true });

const rows: Row[] = [];
const server = values.engine === "postgres" ? await startPostgres() : null;
try {
  for (const part of parts) {
    console.error(`measuring ${part.name} ...`);
    rows.push(...(await part.measure({ quick: values.quick, profiles, databases: server ?? sqliteFiles })));
  }
} finally {
  await server?.stop();
}
console.log(tableOf(rows));
for (const row of rows) {
  if (row.usage === undefined) continue;
  const { usage } = row;
  console.log(`\nfor each of "${row.what}":`);
  console.log(
    [
      `  ${usage.statements.toFixed(2)} SQL statements, of which ${usage.writes.toFixed(2)} write`,
      `  ${usage.transactionControl.toFixed(2)} of begin, commit and savepoints`,
      `  ${usage.rpcCalls.toFixed(3)} RPC calls in ${usage.rpcExchanges.toFixed(3)} exchanges`,
      `  ${usage.cpuMs.toFixed(2)} ms of CPU in the service, ${usage.nodeCpuMs?.toFixed(2) ?? "unknown"} ms in the node`,
      `  event loop delayed by at most ${usage.loopDelayMaxMs.toFixed(0)} ms, p99 ${usage.loopDelayP99Ms.toFixed(0)} ms${workersDelay(usage.workersDelayMaxMs)}`,
    ].join("\n"),
  );
}
if (values.json !== undefined) {
  const measured = rows.map((row) => ({ ...row, ratio: ratioOf(row), met: meetsGoal(row) }));
  writeFileSync(values.json, `${JSON.stringify(measured, null, 2)}\n`);
}

function workersDelay(most: number | null): string {
  return most === null ? "" : `; that of the background workers by at most ${most.toFixed(0)} ms`;
}
