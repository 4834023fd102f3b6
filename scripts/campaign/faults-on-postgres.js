import { setTimeout as wait } from "node:timers/promises";
import { CRASH_POINTS } from "../../api/shared/crash-point.ts";
import { pause } from "../scene/program.ts";
import { reaching } from "./hostile-contract.ts";
import { LEASE_SECONDS, PROCESS_ROLES } from "./role-processes.ts";
const LEASE = LEASE_SECONDS * 1_000;
const HOUR = 3_600_000;
/** Milliseconds after the load within which an armed process must reach its crash point. */
const CRASH_TIMEOUT = 4_000;
/** Milliseconds that a fault of the server lasts at most. */
const DURATION = 1_500;
/** Connections that the service gets while the server has too few. */
const FEW_CONNECTIONS = 6;
/** Which role reaches the crash points of each prefix. */
const ROLE_OF = {
    request: "api",
    media: "media",
    relayer: "relayer",
    indexer: "indexer",
    webhooks: "webhooks",
};
/** What happens to the processes, their connections and the server. */
export const POSTGRES_FAULTS = [
    ...CRASH_POINTS.map((point) => ({
        name: `kill -9 at ${point}`,
        inject: (world, load) => crashAt(world, load, point),
    })),
    ...PROCESS_ROLES.map((role) => ({
        name: `kill -9 of a process: ${role}`,
        inject: async (world) => {
            await wait(world.random.integer(0, 400));
            await (await anyOf(world, role)).kill();
            await world.service.start();
            return 1;
        },
    })),
    {
        name: "kill -9 of every process",
        inject: async (world) => {
            await wait(world.random.integer(0, 400));
            await world.service.kill();
            await world.service.start();
            return world.postgres.members.length;
        },
    },
    ...PROCESS_ROLES.map((role) => ({
        name: `SIGSTOP longer than a lease: ${role}`,
        inject: (world) => pauseOne(world, role, LEASE + world.random.integer(500, 2_500)),
    })),
    {
        name: "SIGSTOP shorter than a lease",
        inject: (world) => pauseOne(world, world.random.pick(PROCESS_ROLES), world.random.integer(100, LEASE - 1_000)),
    },
    ...["fast", "immediate"].map((mode) => ({
        name: `server restarts: ${mode}`,
        inject: async (world) => {
            await wait(world.random.integer(0, 400));
            await world.postgres.database.restart(mode);
            return 1;
        },
    })),
    {
        name: "server ends random connections",
        inject: async (world) => {
            let ended = 0;
            for (let round = 0; round < 6; round++) {
                await wait(world.random.integer(50, 250));
                ended += await world.postgres.database.endConnections(0.3);
            }
            return ended;
        },
    },
    {
        name: "connections drop before a COMMIT",
        inject: (world, load) => faultyConnections(world, load, { kind: "drop-before-commit", probability: 0.1 }),
    },
    {
        name: "connections drop after a COMMIT",
        inject: (world, load) => faultyConnections(world, load, { kind: "drop-after-commit", probability: 0.1 }),
    },
    {
        name: "server does not answer",
        inject: (world) => faultyConnections(world, wait(world.random.integer(1_000, LEASE + 2_000)), { kind: "stall" }),
    },
    {
        name: "server is read-only",
        inject: (world) => countRefusals(world, /\(25006\)/g, async () => {
            await world.postgres.database.setReadOnly(true);
            await wait(world.random.integer(300, DURATION));
            await world.postgres.database.setReadOnly(false);
        }),
    },
    {
        name: "server has no free connection",
        inject: (world) => countRefusals(world, /\(53300\)|too many connections/g, async () => {
            const { database } = world.postgres;
            await database.limitConnections(FEW_CONNECTIONS);
            await database.endConnections();
            await wait(world.random.integer(300, DURATION));
            await database.limitConnections(-1);
        }),
    },
    {
        name: "clock of a process jumps",
        inject: async (world, load) => {
            const { process } = world.random.pick(world.postgres.members);
            await process?.control({ clockOffset: world.random.pick([-HOUR, HOUR, 24 * HOUR, -24 * HOUR]) });
            await load;
            await process?.control({ clockOffset: 0 });
            return 1;
        },
    },
];
/** The process that does the role's work dies at the point. The other process of the role goes on. */
async function crashAt(world, load, point) {
    const role = ROLE_OF[point.split(":")[0] ?? ""];
    if (role === undefined)
        throw new Error(`no role reaches the crash point ${point}`);
    const reach = await reaching(world, point);
    const { process } = await world.postgres.worker(role);
    if (process === null)
        throw new Error(`no process has the role ${role}`);
    await process.control({ crashPoint: point });
    await reach();
    const died = await Promise.race([process.gone().then(() => true), load.then(() => wait(CRASH_TIMEOUT, false))]);
    // The point must not stay armed.
    await process.kill();
    await world.service.start();
    return died ? 1 : 0;
}
/** @returns how often another process took over a lease meanwhile; for a role without leases 1. */
async function pauseOne(world, role, milliseconds) {
    await wait(world.random.integer(0, 200));
    const process = await anyOf(world, role);
    const before = await world.postgres.fences(role);
    await pause(process.pid);
    await wait(milliseconds);
    const takenOver = (await world.postgres.fences(role)) - before;
    // It believes that it still has its leases.
    process.signal("SIGCONT");
    return before === 0 || milliseconds < LEASE ? 1 : takenOver;
}
/** Any process of the role; mostly the one that works. */
async function anyOf(world, role) {
    const { postgres, random } = world;
    const { process } = random.chance(0.75) ? await postgres.worker(role) : random.pick(postgres.of(role));
    if (process === null)
        throw new Error(`no process has the role ${role}`);
    return process;
}
/** @returns how many connections were affected. */
async function faultyConnections(world, until, fault) {
    const { proxy } = world.postgres.database;
    proxy.fault = fault;
    await until;
    const { injected } = proxy;
    proxy.fault = null;
    return injected;
}
/** @returns how many refusals the processes logged. */
async function countRefusals(world, pattern, work) {
    const before = await world.postgres.countInLogs(pattern);
    await work();
    return (await world.postgres.countInLogs(pattern)) - before;
}
