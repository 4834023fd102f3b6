import { parseArgs } from "node:util";

import { answered, countsTable, fuzz } from "./run.ts";
import { requestsThatAreLost, startTarget } from "./target.ts";

/**
 * `npm run fuzz [-- --requests N --seed N]`: sends invalid calls, generated from the published OpenAPI document, to a real
 * service over HTTP. The same seed gives the same calls, except for addresses and tokens, which are new each time.
 */

const { values } = parseArgs({
  options: { requests: { type: "string", default: "20000" }, seed: { type: "string", default: "20260504" } },
});
const [requests, seed] = [Number(values.requests), Number(values.seed)];
if (!Number.isSafeInteger(requests) || requests < 1 || !Number.isSafeInteger(seed)) {
  console.error("--requests must be a number of calls of at least 1, --seed an integer.");
  process.exit(2);
}

const started = performance.now();
const target = await startTarget();
try {
  console.log(`${requests} calls with seed ${seed}`);
  const report = await fuzz({ ...target, requests, seed });
  console.log(countsTable(report));
  const lost = report.finding === null ? await requestsThatAreLost(target, report.accepted) : [];
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(
    `${answered(report)} calls answered in ${seconds} s, the slowest in ${Math.round(report.slowest)} ms; ` +
      `${report.accepted.size} requests accepted, ${lost.length} of them lost`,
  );
  if (report.finding !== null)
    console.error(`\nAn answer differs from the OpenAPI document. The smallest such call:\n${report.finding}`);
  for (const words of lost) console.error(words);
  process.exitCode = report.finding === null && lost.length === 0 ? 0 : 1;
} finally {
  await target.stop();
}
