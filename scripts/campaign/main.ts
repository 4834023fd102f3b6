import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { anvilBinary } from "../nodes/anvil-binary.ts";
import type { NodeKind } from "../nodes/node-process.ts";
import { Checker, type Finding } from "./check.ts";
import { type Fault, FAULTS } from "./faults.ts";
import { Load } from "./load.ts";
import { Random } from "./random.ts";
import { type Line, NOTHING, summarise, table } from "./report.ts";
import { soak } from "./soak.ts";
import { World } from "./world.ts";

/** Where Anvil is not packaged, everything runs on Hardhat's node, without the faults that only Anvil can make. */
const NODES: NodeKind[] = anvilBinary() === null ? ["hardhat"] : ["anvil", "hardhat"];

/** A node and a database serve so many faults; then all begins anew, so that neither grows without end. */
const FAULTS_PER_WORLD = 60;
/** A fault that has not struck once in so many runs is broken itself. */
const RUNS_TO_STRIKE = 4;

/** `npm run campaign`: breaks the service in every way it knows, again and again, and counts what is lost or doubled. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      faults: { type: "string", default: "60" },
      requests: { type: "string" },
      json: { type: "string" },
      only: { type: "string" },
      soak: { type: "string" },
      verbose: { type: "boolean", default: false },
    },
  });
  const seed = Number(values.seed);
  if (values.soak !== undefined) {
    await runSoak(seed, Number(values.soak));
    return;
  }
  const faults = Number(values.faults);
  const perFault = Math.ceil(Number(values.requests ?? faults * 40) / faults);
  const lines = new Map<string, Line>();
  const started = performance.now();
  const nodes = NODES.filter((kind) => possible(kind, values.only).length > 0);
  if (nodes.length === 0) throw new Error("no fault has that name");
  for (const [index, kind] of nodes.entries()) {
    const first = nodes.length === 1 ? faults : Math.ceil((faults * 2) / 3);
    const share = index === 0 ? first : faults - first;
    await campaign(kind, seed + index, share, perFault, lines, values.only, values.verbose);
  }
  console.log(table([...lines.values()]));
  const total = summarise([...lines.values()]);
  console.log(
    `${total.runs.toString()} faults, ${total.requests.toString()} requests: ` +
      `${total.lost.toString()} lost, ${total.doubled.toString()} doubled, ${total.stuck.toString()} stuck, ` +
      `${total.other.toString()} other findings (seed ${seed.toString()}, ${((performance.now() - started) / 1000).toFixed(0)} s)`,
  );
  if (values.json !== undefined) {
    await writeFile(values.json, `${JSON.stringify({ seed, total, lines: [...lines.values()] }, null, 2)}\n`);
  }
  const idle = [...lines.values()].filter((line) => line.runs >= RUNS_TO_STRIKE && line.struck === 0);
  for (const line of idle) console.log(`"${line.fault}" never struck: it proves nothing`);
  const good =
    idle.length === 0 && total.lost + total.doubled + total.stuck + total.other === 0 && total.runs >= faults;
  console.log(good ? "1 passed, 0 failed" : "0 passed, 1 failed");
  process.exitCode = good ? 0 : 1;
}

async function runSoak(seed: number, minutes: number): Promise<void> {
  const world = await World.create("hardhat", seed);
  let good = false;
  try {
    good = await soak(world, minutes);
  } finally {
    await world.stop(!good);
  }
  console.log(good ? "1 passed, 0 failed" : "0 passed, 1 failed");
  process.exitCode = good ? 0 : 1;
}

/** One node, one service, many faults in turn. The order is the seed's. */
async function campaign(
  kind: NodeKind,
  seed: number,
  faults: number,
  perFault: number,
  lines: Map<string, Line>,
  only: string | undefined,
  verbose: boolean,
): Promise<void> {
  const queue = [...schedule(kind, new Random(seed), faults, only)];
  for (let started = 0; queue.length > 0; started++) {
    const share = queue.splice(0, FAULTS_PER_WORLD);
    if (!(await inWorld(kind, seed + 100 * started, share, perFault, lines, verbose))) return;
    if (queue.length > 0) console.log(`${kind}: ${queue.length.toString()} faults to come`);
  }
}

/** @returns false when something was found. */
async function inWorld(
  kind: NodeKind,
  seed: number,
  faults: Fault[],
  perFault: number,
  lines: Map<string, Line>,
  verbose: boolean,
): Promise<boolean> {
  const world = await World.create(kind, seed);
  const load = new Load(world);
  const checker = new Checker(world);
  let sound = true;
  let ended = false;
  try {
    for (const fault of faults) {
      const at = performance.now();
      const finding = await round(world, load, checker, fault, perFault);
      record(lines, fault, finding);
      sound &&= finding.lost + finding.doubled + finding.stuck + finding.other.length === 0;
      if (verbose || !sound) {
        const seconds = ((performance.now() - at) / 1000).toFixed(1);
        console.log(`${kind}: ${fault.name}: ${JSON.stringify(finding)} ${seconds} s`);
      }
      if (!sound) break;
    }
    const unheard = sound ? await checker.announced() : [];
    if (unheard.length > 0) {
      sound = false;
      console.log(unheard.join("\n"));
      lines.set("webhooks", { ...NOTHING, fault: "webhooks", other: unheard.length });
    }
    ended = true;
  } finally {
    const keep = !ended || !sound;
    if (keep) console.log(`Everything of this world is kept in ${world.folder}`);
    await world.stop(keep);
  }
  return sound;
}

/** Some can be made on one kind of node alone. */
function possible(kind: NodeKind, only: string | undefined): Fault[] {
  return FAULTS.filter((fault) => (fault.only ?? kind) === kind && (only === undefined || fault.name.includes(only)));
}

/** Every fault in turn, shuffled anew each time round. */
function* schedule(kind: NodeKind, random: Random, count: number, only: string | undefined): Generator<Fault> {
  const faults = possible(kind, only);
  let queue: Fault[] = [];
  for (let done = 0; done < count; done++) {
    if (queue.length === 0)
      queue = faults
        .map((fault) => ({ fault, key: random.next() }))
        .sort((a, b) => a.key - b.key)
        .map(({ fault }) => fault);
    const next = queue.pop();
    if (next === undefined) return;
    yield next;
  }
}

async function round(
  world: World,
  load: Load,
  checker: Checker,
  fault: Fault,
  requests: number,
): Promise<Finding & { struck: number }> {
  const running = load.run(requests);
  // What fails is told by the fault's own promise; this one must not end the program meanwhile.
  running.catch(() => undefined);
  const [accepted, struck] = await Promise.all([running, fault.strike(world, running)]);
  const finding = await checker.check(accepted);
  load.know(checker.owners());
  return { ...finding, struck };
}

function record(lines: Map<string, Line>, fault: Fault, finding: Finding & { struck: number }): void {
  const line = lines.get(fault.name) ?? { ...NOTHING, fault: fault.name };
  line.runs++;
  line.struck += finding.struck;
  line.requests += finding.requests;
  line.completed += finding.completed;
  line.failed += finding.failed;
  line.lost += finding.lost;
  line.doubled += finding.doubled;
  line.stuck += finding.stuck;
  line.other += finding.other.length;
  lines.set(fault.name, line);
}

await main();
