import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

import { type Figure, type Lab, median } from "./scenario.ts";
import { World } from "./world.ts";

const IDLE_MS = 60_000;

/** From the start of the process until it serves, with a database that it has used, and its memory when idle. */
export async function start(lab: Lab): Promise<Figure[]> {
  const times = lab.quick ? 1 : 7;
  return World.use(lab, {}, async (world) => {
    const taken: number[] = [];
    while (taken.length < times) {
      await world.stopService();
      const started = performance.now();
      await world.startService();
      taken.push(performance.now() - started);
    }
    await wait(lab.quick ? 5_000 : IDLE_MS);
    return [
      { what: "start of the service, all roles", unit: "ms", value: median(taken) },
      { what: "memory of the service, idle (proportional set size)", unit: "MiB", value: await shareOf(world.pid) },
    ];
  });
}

/** Memory of a process, where a page that several processes share counts in parts. Linux only. */
async function shareOf(pid: number): Promise<number | null> {
  if (process.platform !== "linux") return null;
  const text = await readFile(`/proc/${pid.toString()}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]) / 1_024;
}
