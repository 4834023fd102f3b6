import { Checker } from "./check.ts";
import { faultsOf } from "./faults.ts";
import { Load } from "./load.ts";
import { Random } from "../scene/random.ts";
import { addTo, isClean, lineOf } from "./report.ts";
import { World } from "./world.ts";
/** After so many faults a new node and database begin, so that neither grows without limit. */
const FAULTS_PER_WORLD = 60;
/** Runs `faults` rounds on one kind of node, in the order that the seed gives. Stops at the first problem. */
export async function runFaults(run) {
    const { kind, engine, seed, faults, only } = run;
    const queue = [...schedule(possibleFaults(kind, engine, only, run.nodes), new Random(seed), faults)];
    const clock = { deadline: null };
    for (let world = 0; queue.length > 0 && performance.now() < (clock.deadline ?? Infinity); world++) {
        const share = queue.splice(0, FAULTS_PER_WORLD);
        if (!(await runInWorld({ ...run, seed: seed + 100 * world }, share, clock)))
            return;
        if (queue.length > 0)
            console.log(`${kind}: ${queue.length.toString()} faults left`);
    }
}
/** Faults that this kind of node can produce. */
export function possibleFaults(kind, engine, only, nodes = 1) {
    return faultsOf(engine, nodes).filter(({ name, only: kindOnly = kind }) => kindOnly === kind && (only === null || only.some((text) => name.includes(text))));
}
/** `count` faults: all of them in random order, then all of them in another random order, and so on. */
function schedule(faults, random, count) {
    const queue = [];
    while (faults.length > 0 && queue.length < count)
        queue.push(...random.shuffle(faults));
    return queue.slice(0, count);
}
/** @returns false when a problem was found. */
async function runInWorld(run, faults, clock) {
    const { kind, requestsPerFault, verbose, lines } = run;
    const world = await World.create(run);
    // A slow machine takes minutes to start the processes: no fault begins meanwhile.
    clock.deadline ??= performance.now() + run.time;
    const load = new Load(world);
    const checker = new Checker(world);
    let clean = true;
    try {
        for (const [index, fault] of faults.entries()) {
            if (index > 0 && performance.now() > clock.deadline)
                break;
            const started = performance.now();
            const round = await runRound(world, load, checker, fault, requestsPerFault);
            const { result, injected, seconds: waited } = round;
            record(lines, fault, round);
            clean &&= isClean(result);
            const unavailable = world.client.takeUnavailable();
            if (verbose || !clean) {
                const seconds = ((performance.now() - started) / 1000).toFixed(1);
                console.log(`${kind}: ${fault.name}: ${JSON.stringify({ ...result, injected, waited, unavailable })} ${seconds} s`);
            }
            if (!clean)
                break;
        }
        const missing = clean ? await checker.missingWebhooks() : [];
        const wrong = clean ? await checker.wrongStream() : [];
        for (const [fault, problems] of Object.entries({ webhooks: missing, "event stream": wrong })) {
            if (problems.length === 0)
                continue;
            clean = false;
            console.log(problems.join("\n"));
            lines.set(fault, lineOf(fault, { other: problems.length }));
        }
    }
    catch (error) {
        clean = false;
        console.log(error);
        lines.set("campaign", lineOf("campaign", { other: 1 }));
    }
    finally {
        if (!clean)
            console.log(`The database and the logs are kept in ${world.folder}`);
        await world.stop(!clean);
    }
    return clean;
}
async function runRound(world, load, checker, fault, requests) {
    const began = performance.now();
    const running = load.run(requests);
    // `Promise.all` below reports a failure of the load. Until then it must not end the process as an unhandled rejection.
    running.catch(() => undefined);
    const [accepted, injected] = await Promise.all([running, fault.inject(world, running)]);
    const result = await checker.check([...accepted, ...world.attacker.accepted.splice(0)]);
    result.other.push(...world.service.unexpectedEnds());
    const errors = world.client.takeInternalErrors() + world.attacker.client.takeInternalErrors();
    if (errors > 0 && fault.mayFailCalls !== true)
        result.other.push(`${errors.toString()} calls got status 500`);
    load.setKnownTokens(await checker.knownTokens());
    const completed = accepted.flatMap(({ id }) => world.completedAt.get(id) ?? []);
    const seconds = completed.length === 0 ? null : (Math.min(...completed) - began) / 1000;
    world.completedAt.clear();
    return { result, injected, seconds };
}
function record(lines, fault, { result, injected, seconds }) {
    const line = lines.get(fault.name) ?? lineOf(fault.name);
    addTo(line, { ...result, other: result.other.length, injected, runs: 1 });
    if (seconds !== null)
        line.seconds = Math.max(line.seconds ?? 0, seconds);
    lines.set(fault.name, line);
}
