import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { CRASH_POINTS } from "../../api/shared/crash-point.ts";
import { listenOnLoopback } from "../scene/loopback.ts";
import { until } from "../scene/until.ts";
import { reaching } from "./hostile-contract.ts";
/** Milliseconds, longer than any lease. */
const BEYOND_LEASES = 20_000;
/** Milliseconds within which the second process must take over a lane. */
const TAKEOVER_TIMEOUT = 30_000;
/** SQLite's messages for a refused write. */
const WRITE_REFUSED = /SQLITE_FULL|SQLITE_READONLY|disk is full|readonly database/g;
/** More than the service lets a job kill it. */
const MOST_DEATHS = 10;
/** Longest wait for what must happen soon. */
const SOON = { within: 120_000 };
/** Milliseconds that a fault of the disk lasts at most. */
const DURATION = 700;
/** What happens to the one process and its disk. */
export const SQLITE_FAULTS = [
    ...CRASH_POINTS.map((point) => ({
        name: `kill -9 at ${point}`,
        inject: async (world, load) => {
            const reach = await reaching(world, point);
            // The process that will crash starts in the middle of the load.
            await world.sqlite.restart({ CRASH_POINT: point });
            await reach();
            const died = await Promise.race([
                world.sqlite.process.gone().then(() => true),
                load.then(() => wait(4_000, false)),
            ]);
            await world.sqlite.restart();
            return died ? 1 : 0;
        },
    })),
    {
        name: "kill -9 at a random time",
        inject: async (world) => {
            await wait(world.random.integer(0, 400));
            await world.sqlite.restart();
            return 1;
        },
    },
    { name: "media that kill the process", inject: killByMedia },
    {
        name: "disk full",
        mayFailCalls: true,
        inject: (world) => withoutDisk(world, "full"),
    },
    {
        name: "database read-only",
        mayFailCalls: true,
        inject: (world) => withoutDisk(world, "read-only"),
    },
    {
        name: "clock jumps",
        inject: async (world, load) => {
            const hour = 3_600_000;
            await world.sqlite.process.control({ clockOffset: world.random.pick([-hour, hour, 24 * hour, -24 * hour]) });
            await load;
            await world.sqlite.process.control({ clockOffset: 0 });
            return 1;
        },
    },
    {
        name: "two processes, one lease",
        inject: async (world, load) => {
            // The first process freezes. A second one, whose clock is ahead, sees the leases expired and takes over the lanes.
            await wait(world.random.integer(0, 200));
            await world.sqlite.freeze();
            const before = await world.sqlite.fences();
            const second = await world.sqlite.startSecond();
            await second.control({ clockOffset: BEYOND_LEASES });
            const deadline = performance.now() + TAKEOVER_TIMEOUT;
            while ((await world.sqlite.fences()) === before && performance.now() < deadline)
                await wait(20);
            const takenOver = (await world.sqlite.fences()) - before;
            // The first process continues and believes that it still has its leases.
            world.sqlite.process.signal("SIGCONT");
            await second.control({ clockOffset: 0 });
            await load;
            await (world.random.chance(0.5) ? second.kill() : second.stop());
            return takenOver;
        },
    },
];
/**
 * Each time that a server is asked for the media of a mint, the process dies, as one that runs out of memory does. The mint must
 * fail after some deaths, and everything beside it must end as without it.
 * @returns how often the process died.
 */
async function killByMedia(world, load) {
    const { attacker, sqlite } = world;
    const fetches = { seen: 0 };
    const server = await listenOnLoopback(createServer(() => (fetches.seen += 1)));
    try {
        const image = `${server.url}/bomb.png`;
        const body = { collection_address: attacker.collection, to_address: attacker.wallet, image, copy_media: true };
        const id = await attacker.client.accept("/v1/nfts", body);
        if (id === null)
            return 0;
        attacker.accepted.push({ id, kind: "mint-that-kills" });
        let deaths = 0;
        for (; deaths < MOST_DEATHS; deaths++) {
            const failed = async () => (await attacker.client.ok("GET", `/v1/requests/${id}`))["status"] === "failed";
            const isFetched = () => fetches.seen > deaths;
            await until("the media are fetched, or their mint fails", async () => isFetched() || (await failed()), SOON);
            if (!isFetched())
                break;
            await sqlite.restart();
        }
        await load;
        return deaths;
    }
    finally {
        await server.stop();
    }
}
/** @returns how many writes were refused. */
async function withoutDisk(world, disk) {
    const before = (await world.sqlite.log()).length;
    await world.sqlite.process.control({ disk });
    await wait(world.random.integer(200, DURATION));
    await world.sqlite.process.control({ disk: "ok" });
    return (await world.sqlite.log()).slice(before).match(WRITE_REFUSED)?.length ?? 0;
}
