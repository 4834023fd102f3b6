import { setTimeout as wait } from "node:timers/promises";

import type { World } from "../harness/world.ts";

/** Seconds. */
export const DAY = 86_400;
/** Mints a second: a million in a day. */
export const RATE = 1_000_000 / DAY;

/** The default of chains that are not local. */
export const SETTINGS = { BLOCK_POLL_SECONDS: "1" };

export interface Accepted {
  id: string;
  /** When it was asked for: milliseconds since 1970. */
  at: number;
}

/** Asks for mints one by one, each at its time, whatever the earlier ones took. */
export async function mintEvenly(world: World, body: object, count: number): Promise<Accepted[]> {
  const started = performance.now();
  const mint = async (index: number) => {
    await wait(Math.max(0, started + (index * 1000) / RATE - performance.now()));
    const at = Date.now();
    const call = { method: "POST", path: "/v1/nfts", body } as const;
    const { request_id: id } = await world.load.send<{ request_id: string }>(call);
    return { id, at };
  };
  return Promise.all(Array.from({ length: count }, (_, index) => mint(index)));
}
