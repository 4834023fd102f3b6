import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { linesOfProbe, renderProbes, wrapConditions, type Condition } from "./branch-probes.ts";

// `npm run test:contracts -- --coverage` measures line and branch coverage of the contracts by the Mocha tests, and fails below 100 %.
// Hardhat measures statements only. For branches, the tests run against a copy of the contracts in which every condition is
// wrapped in a probe.

// Mocks are for tests only, and interfaces have no code.
const EXCLUDED = /^(?:mocks|interfaces)\//u;

const root = process.cwd();
const work = join(root, "cache", "coverage");
const sources = join(work, "contracts");

const conditions: Condition[] = [];
rmSync(work, { recursive: true, force: true });
mkdirSync(join(work, "no-tests"), { recursive: true });
cpSync(join(root, "contracts"), sources, { recursive: true });
for (const path of globSync("**/*.sol", { cwd: sources }).sort()) {
  if (EXCLUDED.test(path.replaceAll("\\", "/"))) continue;
  const file = join(sources, path);
  const library = join(relative(dirname(file), sources) || ".", "BranchProbes.sol").replaceAll("\\", "/");
  const wrapped = wrapConditions(path, readFileSync(file, "utf8"), conditions);
  const specifier = library.startsWith(".") ? library : `./${library}`;
  // On the line of the pragma, so that line numbers do not change.
  writeFileSync(file, wrapped.replace(/^pragma .*$/mu, `$& import {BranchProbes} from "${specifier}";`));
}
writeFileSync(join(sources, "BranchProbes.sol"), renderProbes(conditions.length));

writeFileSync(
  join(work, "hardhat.config.ts"),
  `import base from "../../hardhat.config.ts";
const own = { sources: "cache/coverage/contracts", artifacts: "cache/coverage/artifacts", cache: "cache/coverage/cache" };
const tests = { ...base.paths.tests, solidity: "cache/coverage/no-tests" };
export default { ...base, paths: { ...base.paths, ...own, tests }, typechain: { ...base.typechain, dontOverrideCompile: true } };
`,
);
const hardhat = join(root, "node_modules", "hardhat", "dist", "src", "cli.js");
const { status } = spawnSync(
  process.execPath,
  [hardhat, "--config", join(work, "hardhat.config.ts"), "test", "mocha", "--coverage"],
  { stdio: "inherit" },
);
if (status !== 0) process.exit(status ?? 1);

const hits = readHits(readFileSync(join(root, "coverage", "lcov.info"), "utf8"));
const lines = { hit: 0, all: 0 };
const missing: string[] = [];
for (const [file, counts] of hits) {
  const path = file.split("cache/coverage/contracts/")[1];
  if (path === undefined || path === "BranchProbes.sol" || EXCLUDED.test(path)) continue;
  for (const [line, count] of counts) {
    lines.all += 1;
    if (count > 0) lines.hit += 1;
    else missing.push(`contracts/${path}:${line} never runs`);
  }
}
const probes = [...hits].find(([file]) => file.endsWith("/BranchProbes.sol"))?.[1] ?? new Map<number, number>();
let branches = 0;
for (const [index, { file, line, text }] of conditions.entries()) {
  for (const [outcome, probe] of Object.entries(linesOfProbe(index))) {
    if ((probes.get(probe) ?? 0) > 0) branches += 1;
    else missing.push(`contracts/${file}:${line} never ${outcome === "whenTrue" ? "true" : "false"}: ${text}`);
  }
}

for (const gap of missing.sort()) console.log(gap);
console.log(`Lines: ${share(lines.hit, lines.all)}. Branches: ${share(branches, 2 * conditions.length)}.`);
console.log("Excluded: contracts/mocks (for tests only) and contracts/interfaces (no code).");
process.exit(missing.length === 0 ? 0 : 1);

function readHits(lcov: string): Map<string, Map<number, number>> {
  const files = new Map<string, Map<number, number>>();
  let current = new Map<number, number>();
  for (const line of lcov.split("\n")) {
    if (line.startsWith("SF:")) {
      current = new Map();
      files.set(line.slice(3).replaceAll("\\", "/"), current);
    } else if (line.startsWith("DA:")) {
      const [number, count] = line.slice(3).split(",");
      current.set(Number(number), Number(count));
    }
  }
  return files;
}

function share(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(2)} % (${part} of ${whole})`;
}
