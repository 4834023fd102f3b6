import { globSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import fc from "fast-check";

import { parseContracts } from "./ast.ts";
import { whyEquivalent } from "./equivalent.ts";
import { findMutants, type Mutant } from "./mutants.ts";
import { type Verdict, Workshop } from "./workshop.ts";

// `npm run test:mutation [-- --seed 1 --sample 150 --minutes 60 --workers 1 --only Relay]` changes the contracts in small
// ways, one at a time, and runs their tests. A change that no test notices is a survivor. The seed decides the sample. The
// run fails when less than the goal was noticed.

/** Share of the mutants that the tests must notice. */
const GOAL = 0.95;
/** No code, only for tests, or only measures gas. */
const EXCLUDED = /^contracts\/(?:mocks\/|interfaces\/|generated\/|GasProbe\.sol)/u;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    sample: { type: "string", default: "150" },
    minutes: { type: "string", default: "60" },
    workers: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const [seed, minutes] = [count("seed", values.seed), count("minutes", values.minutes)];

const root = process.cwd();
const sample = sampleOf(allMutants(), count("sample", values.sample));
console.log(`A sample of ${sample.length} mutants with seed ${seed}, for at most ${minutes} minutes.`);
const workshops = Array.from(
  { length: count("workers", values.workers) },
  (_, index) => new Workshop(root, index.toString()),
);
const baseline = await workshops[0]?.run("contracts/Relay.sol");
if (baseline?.verdict !== "survived") {
  console.error(baseline?.output);
  console.error("The tests fail without any mutant. Correct them first.");
  process.exit(1);
}

const deadline = Date.now() + minutes * 60_000;
const verdicts: { mutant: Mutant; verdict: Verdict | "equivalent" }[] = [];
const queue = sample.values();
await Promise.all(workshops.map(work));

const survivors = verdicts.filter(({ verdict }) => verdict === "survived");
const [invalid, equivalent] = [of("invalid"), of("equivalent")];
const judged = verdicts.length - invalid - equivalent;
const score = judged === 0 ? 0 : 1 - survivors.length / judged;
for (const { mutant } of survivors) console.log(`survivor: ${describe(mutant)}`);
if (verdicts.length < sample.length) console.log(`The time ran out after ${verdicts.length} of ${sample.length}.`);
console.log(
  `Seed ${seed}: ${judged - survivors.length} of ${judged} mutants were noticed, ${(100 * score).toFixed(1)} %; ` +
    `${invalid} did not compile, ${equivalent} change nothing that a test can notice.`,
);
process.exit(score >= GOAL ? 0 : 1);

/** Judges mutants until none is left or the time is over. The workers share one queue. */
async function work(workshop: Workshop): Promise<void> {
  for (const mutant of queue) {
    const because = whyEquivalent(mutant);
    const verdict = because === null ? await workshop.judge(mutant) : "equivalent";
    verdicts.push({ mutant, verdict });
    const reason = because === null ? "" : `: ${because}`;
    console.log(`  ${verdicts.length}/${sample.length} ${verdict.padEnd(8)} ${describe(mutant)}${reason}`);
    if (Date.now() > deadline) return;
  }
}

function of(wanted: Verdict | "equivalent"): number {
  return verdicts.filter(({ verdict }) => verdict === wanted).length;
}

function allMutants(): Mutant[] {
  const files = globSync("contracts/**/*.sol")
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !EXCLUDED.test(file))
    .sort();
  return [...parseContracts(root, files)]
    .flatMap(([file, tree]) => findMutants(file, readFileSync(file, "utf8"), tree))
    .filter(({ file }) => file.includes(values.only));
}

function sampleOf(mutants: Mutant[], size: number): Mutant[] {
  console.log(`${mutants.length} mutants are possible.`);
  const length = Math.min(size, mutants.length);
  const [chosen = []] = fc.sample(fc.shuffledSubarray(mutants, { minLength: length, maxLength: length }), {
    seed,
    numRuns: 1,
  });
  return chosen;
}

function describe({ file, line, original, replacement }: Mutant): string {
  const short = (text: string) => text.replace(/\s+/gu, " ");
  return `${file}:${line} ${short(original)} -> ${replacement === "" ? "(nothing)" : short(replacement)}`;
}

/** @throws Error that names the option. */
function count(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${option} must be a whole number above 0, not ${text}.`);
  return value;
}
