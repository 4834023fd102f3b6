import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createApp } from "../../../api/operate/apps.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { until } from "../../scene/until.ts";
import { Load } from "../harness/load.ts";
import { profile, profileAt } from "../harness/profile.ts";
import { MeasuredService } from "../harness/measured-service.ts";
import { usagePerRequest } from "../harness/usage.ts";
import { World } from "../harness/world.ts";
import { queueEvents, waitingLetters } from "./queue.ts";
import { monotonicNow, Receivers } from "./receivers-process.ts";
import { sendBare } from "./sender-process.ts";
/** Deliveries at a time to one app, and to 50 apps, one of which is dead: as many as the service allows. */
const AT_ONCE = { one: 4, many: 49 };
const APPS = 50;
/** How often to look whether all results are stored, once everything has arrived. In milliseconds. */
const LOOK = 5;
/** Milliseconds after which the benchmark fails. */
const DEADLINE = 120_000;
/**
 * Queued webhooks delivered by a process with the role `webhooks` alone, until their results are stored: to one app, and to 50
 * apps, one of which never answers. Baseline: a loop that signs and posts the same bodies to the same receivers, as many at a time.
 */
export const delivering = { name: "delivering", measure: run };
async function run({ quick, profiles, databases }) {
    const [events, warmUp, turns] = quick ? [3_000, 1_000, 1] : [10_000, 2_000, 3];
    const world = await World.start({ databases, roles: ["api"] });
    const database = await openDatabase(world.env.DATABASE_URL);
    const receivers = await Receivers.start(APPS - 1);
    try {
        const apps = await createApps(world, database, receivers);
        await world.stopProcesses();
        const site = { world, database, receivers, events, warmUp };
        const [one, many] = [[], []];
        for (let turn = 0; turn < turns; turn++) {
            one.push(await takeTurn(site, apps.slice(0, 1), null));
            many.push(await takeTurn(site, apps, null));
        }
        if (profiles !== null) {
            await takeTurn(site, apps.slice(0, 1), profileAt(profiles, "delivered-to-one"));
            await takeTurn(site, apps, profileAt(profiles, "delivered-to-many"));
        }
        return [
            rowOf("webhooks delivered to one receiver, 4 at a time", one),
            rowOf("webhooks delivered to 49 receivers beside a dead one", many),
        ];
    }
    finally {
        await receivers.stop();
        await database.close();
        await world.stop();
    }
}
/** Apps whose receivers answer, and then one whose receiver is dead. */
async function createApps(world, database, { urls, deadUrl }) {
    const apps = [];
    for (const [index, url] of [...urls, deadUrl].entries()) {
        const { appId, token } = await createApp({ database }, `receiver ${index.toString()}`);
        const load = new Load(world.urls, 1, token);
        const { secret } = await load.send({ method: "PUT", path: "/v1/webhook", body: { url } });
        await load.close();
        apps.push({ id: appId, url, secret });
    }
    return apps;
}
/** Queues the events, lets the service deliver them, and then the bare loop. @param file of a CPU profile. */
async function takeTurn(site, apps, file) {
    const { database, receivers, events, warmUp } = site;
    const alive = apps.slice(0, APPS - 1);
    const ids = apps.map(({ id }) => id);
    const rounds = Math.ceil((events + warmUp) / alive.length / 2);
    await queueEvents(database, ids, rounds * 2 * apps.length);
    const letters = (await waitingLetters(database)).filter(({ appId }) => alive.some(({ id }) => id === appId));
    const expected = { warmUp, total: letters.length };
    const measured = letters.length - warmUp;
    const { arrived } = await receivers.expect(expected);
    const { until, usage } = await deliver(site, { alive, arrived, file });
    const { warmAt } = await arrived;
    await verify(site, alive, letters);
    const bare = await receivers.expect(expected);
    const targets = new Map(alive.map(({ id }, index) => [id, index]));
    await sendBare({
        targets: alive.map(({ url, secret }) => ({ url, secret })),
        letters: letters.map(({ appId, id, payload }) => ({ target: targets.get(appId) ?? -1, id, payload })),
        atOnce: apps.length === 1 ? AT_ONCE.one : AT_ONCE.many,
    });
    const times = await bare.arrived;
    await verify(site, alive, letters);
    return {
        ours: (measured * 1000) / (until - warmAt),
        bare: (measured * 1000) / (times.lastAt - times.warmAt),
        usage: usage(letters.length),
    };
}
/** Runs a process with the role `webhooks` until every event for the live receivers is delivered. */
async function deliver({ world, database, receivers }, { alive, arrived, file }) {
    const log = join(world.folder, "webhooks.log");
    const service = await MeasuredService.open({ ...world.env, LOG_LEVEL: "info" }, log, "webhooks");
    try {
        let until = 0;
        const before = await service.instruments.usage();
        const finish = async () => {
            // Looking into the database before that would only take time from what is measured.
            await Promise.race([arrived, wait(DEADLINE, undefined, { ref: false })]);
            await untilDelivered(database, alive);
            until = monotonicNow();
        };
        await (file === null ? finish() : profile(service.instruments, file, finish));
        const after = await service.instruments.usage();
        return { until, usage: (count) => usagePerRequest(before, after, count) };
    }
    finally {
        const stopped = service.stop();
        // A process that stops waits for the answers to what it has sent.
        await receivers.hangUp();
        await stopped;
    }
}
/** Waits until no delivery to these apps is pending. Reads the index of pending deliveries. */
async function untilDelivered({ read }, apps) {
    const pending = read
        .selectFrom("deliveries")
        .select("seq")
        .where("status", "=", "pending")
        .where("app_id", "in", apps.map(({ id }) => id))
        .limit(1);
    const isDone = async () => (await pending.execute()).length === 0;
    await until("the webhooks are delivered", isDone, { within: DEADLINE, every: LOOK });
}
/** @throws Error unless each event arrived once with a good signature, and is stored as delivered. */
async function verify({ database: { read }, receivers }, alive, letters) {
    const { calls, distinct, badSignatures } = await receivers.verify(alive.map(({ secret }) => secret));
    const { delivered } = await read
        .selectFrom("deliveries")
        .innerJoin("events", "events.seq", "deliveries.event_seq")
        .select((eb) => eb.fn.countAll().as("delivered"))
        .where("status", "=", "delivered")
        .where("tries", "=", 1)
        .where("response_status", "=", 204)
        .where("events.id", "in", letters.map(({ id }) => id))
        .executeTakeFirstOrThrow();
    const counts = { calls, distinct, stored: Number(delivered) };
    if (badSignatures > 0 || Object.values(counts).some((count) => count !== letters.length))
        throw new Error(`of ${letters.length.toString()} events: ${JSON.stringify({ ...counts, badSignatures })}; each must arrive once, signed`);
}
function rowOf(what, turns) {
    // The turn in the middle, so that the two rates are of the same minute.
    const sorted = turns.toSorted((one, other) => one.ours / one.bare - other.ours / other.bare);
    const middle = sorted[Math.floor(sorted.length / 2)];
    if (middle === undefined)
        throw new Error("no turn was measured");
    return {
        what,
        unit: "/s",
        measured: middle.ours,
        baseline: { what: "a loop that signs and posts the same bodies", measured: middle.bare },
        goal: { atLeast: 0.7 },
        usage: { ...middle.usage, nodeCpuMs: null },
    };
}
