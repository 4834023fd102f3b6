import { setTimeout as wait } from "node:timers/promises";
/** Seconds. */
export const DAY = 86_400;
/** Mints a second: a million in a day. */
export const RATE = 1_000_000 / DAY;
/** The default of chains that are not local. */
export const SETTINGS = { BLOCK_POLL_SECONDS: "1" };
/** Asks for mints one by one, each at its time, whatever the earlier ones took. */
export async function mintEvenly(world, body, count) {
    const started = performance.now();
    const mint = async (index) => {
        await wait(Math.max(0, started + (index * 1000) / RATE - performance.now()));
        const at = Date.now();
        const call = { method: "POST", path: "/v1/nfts", body };
        const { request_id: id } = await world.load.send(call);
        return { id, at };
    };
    return Promise.all(Array.from({ length: count }, (_, index) => mint(index)));
}
