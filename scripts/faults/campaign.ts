import type { NodeKind } from "../scene/node.ts";
import { Random } from "../scene/random.ts";
import { Checker, isClean, nothingFound, type RoundResult } from "./check.ts";
import { type Fault, faultsOf } from "./faults.ts";
import { Load } from "./load.ts";
import type { Engine, Options } from "./options.ts";
import { World } from "./world.ts";

/** After so many faults a new node and database begin, so that neither grows without limit. */
const FAULTS_PER_WORLD = 60;
/** A fault that never takes effect in so many runs is itself broken. */
const RUNS_TO_TAKE_EFFECT = 4;

/** What all rounds found together. */
export class Totals {
  runs = 0;
  readonly #sum = nothingFound();
  readonly #effects = new Map<string, { runs: number; injected: number }>();

  get isClean(): boolean {
    return isClean(this.#sum);
  }

  add(fault: string, { result, injected }: Pick<Round, "result" | "injected">): void {
    this.runs += 1;
    this.found(result);
    const { runs, injected: before } = this.#effects.get(fault) ?? { runs: 0, injected: 0 };
    this.#effects.set(fault, { runs: runs + 1, injected: before + injected });
  }

  found(result: Partial<RoundResult>): void {
    const sum = this.#sum;
    for (const name of ["requests", "completed", "failed", "lost", "duplicated", "wrong", "stuck"] as const)
      sum[name] += result[name] ?? 0;
    sum.other.push(...(result.other ?? []));
  }

  /** The names of faults that test nothing. */
  withoutEffect(): string[] {
    return [...this.#effects]
      .filter(([, { runs, injected }]) => runs >= RUNS_TO_TAKE_EFFECT && injected === 0)
      .map(([name]) => name);
  }

  toString(): string {
    const { requests, lost, duplicated, wrong, stuck, other } = this.#sum;
    return (
      `${this.runs.toString()} faults, ${requests.toString()} requests: ${lost.toString()} lost, ` +
      `${duplicated.toString()} duplicated, ${wrong.toString()} settled wrongly, ${stuck.toString()} stuck, ` +
      `${other.length.toString()} other problems`
    );
  }
}

interface Run extends Pick<Options, "engine" | "seed" | "faults" | "requestsPerFault" | "only" | "hardfork" | "nodes"> {
  kind: NodeKind;
  /** Milliseconds after the start of the first world in which faults may begin. The first fault of a world always runs. */
  time: number;
  totals: Totals;
}

/** When no further fault may begin (monotonic clock); null: no world has started yet. */
interface Clock {
  deadline: number | null;
}

/** Runs `faults` rounds on one kind of node, in the order that the seed gives. Stops at the first problem. */
export async function runFaults(run: Run): Promise<void> {
  const { kind, engine, seed, faults, only } = run;
  const queue = [...schedule(possibleFaults(kind, engine, only, run.nodes), new Random(seed), faults)];
  const clock: Clock = { deadline: null };
  for (let world = 0; queue.length > 0 && performance.now() < (clock.deadline ?? Infinity); world++) {
    const share = queue.splice(0, FAULTS_PER_WORLD);
    if (!(await runInWorld({ ...run, seed: seed + 100 * world }, share, clock))) return;
  }
}

/** Faults that this kind of node can produce. */
export function possibleFaults(kind: NodeKind, engine: Engine, only: readonly string[] = [""], nodes = 1): Fault[] {
  return faultsOf(engine, nodes).filter(
    ({ name, only: kindOnly = kind }) => kindOnly === kind && only.some((text) => name.includes(text)),
  );
}

/** `count` faults: all of them in random order, then all of them in another random order, and so on. */
function schedule(faults: Fault[], random: Random, count: number): Fault[] {
  const queue: Fault[] = [];
  while (faults.length > 0 && queue.length < count) queue.push(...random.shuffle(faults));
  return queue.slice(0, count);
}

/** @returns false when a problem was found. */
async function runInWorld(run: Run, faults: Fault[], clock: Clock): Promise<boolean> {
  const { kind, requestsPerFault, totals } = run;
  const world = await World.create(run);
  // A slow machine takes minutes to start the processes: no fault begins meanwhile.
  clock.deadline ??= performance.now() + run.time;
  const load = new Load(world);
  const checker = new Checker(world);
  try {
    for (const [index, fault] of faults.entries()) {
      if (index > 0 && performance.now() > clock.deadline) break;
      const round = await runRound(world, load, checker, fault, requestsPerFault);
      totals.add(fault.name, round);
      console.log(`${kind}: ${fault.name}: ${describe(round)}, ${world.client.takeUnavailable().toString()} x 503`);
      if (!totals.isClean) break;
    }
    // While requests are open, webhooks and events are missing for good reason.
    if (totals.isClean) totals.found({ other: await checker.wrongAtTheEnd() });
  } catch (error) {
    totals.found({ other: [String(error)] });
    console.log(error);
  } finally {
    if (!totals.isClean) console.log(`The database and the logs are kept in ${world.folder}`);
    await world.stop(!totals.isClean);
  }
  return totals.isClean;
}

function describe({ result, injected, seconds }: Round): string {
  const { requests, completed, failed } = result;
  const waited = seconds === null ? "" : `, first completed after ${seconds.toFixed(1)} s`;
  const counts = `${requests.toString()} requests, ${completed.toString()} completed, ${failed.toString()} failed`;
  return `${injected.toString()} times, ${counts}${waited}${isClean(result) ? "" : ` ${JSON.stringify(result)}`}`;
}

interface Round {
  result: RoundResult;
  /** How often the fault took effect. */
  injected: number;
  /**
   * Seconds from the begin of the fault to the first webhook that says that a request of this round is completed. Null: none
   * arrived. No request of the round was accepted before the fault, so it shows when work goes on.
   */
  seconds: number | null;
}

async function runRound(world: World, load: Load, checker: Checker, fault: Fault, requests: number): Promise<Round> {
  const began = performance.now();
  const running = load.run(requests);
  // `Promise.all` below reports a failure of the load. Until then it must not end the process as an unhandled rejection.
  running.catch(() => undefined);
  const [accepted, injected] = await Promise.all([running, fault.inject(world, running)]);
  const result = await checker.check([...accepted, ...world.attacker.accepted.splice(0)]);
  result.other.push(...world.service.unexpectedEnds());
  const errors = world.client.takeInternalErrors() + world.attacker.client.takeInternalErrors();
  if (errors > 0 && fault.mayFailCalls !== true) result.other.push(`${errors.toString()} calls got status 500`);
  load.setKnownTokens(await checker.knownTokens());
  const completed = accepted.flatMap(({ id }) => world.webhooks.completedAt.get(id) ?? []);
  const seconds = completed.length === 0 ? null : (Math.min(...completed) - began) / 1000;
  world.webhooks.completedAt.clear();
  return { result, injected, seconds };
}
