import { readFile, stat } from "node:fs/promises";

import BetterSqlite3 from "better-sqlite3";

import { Checker } from "./check.ts";
import { Load } from "./load.ts";
import type { World } from "./world.ts";

const MINUTE = 60_000;
/** Requests in one go; the next go starts when they are final. */
const WAVE = 100;

/** A steady load without faults: what grows with time shows here. Prints a line a minute. @returns whether all is well. */
export async function soak(world: World, minutes: number): Promise<boolean> {
  const load = new Load(world);
  const checker = new Checker(world);
  const started = performance.now();
  let requests = 0;
  for (let minute = 1; minute <= minutes; minute++) {
    while (performance.now() - started < minute * MINUTE) {
      const finding = await checker.check(await load.run(WAVE));
      requests += finding.requests;
      load.know(checker.owners());
      if (finding.lost + finding.doubled + finding.stuck + finding.other.length > 0) {
        console.log(JSON.stringify(finding));
        return false;
      }
    }
    console.log(
      `minute ${minute.toString()}: ${requests.toString()} requests, memory ${await memoryOf(world.api.pid)}, ` +
        `database ${((await stat(world.databaseFile)).size / 2 ** 20).toFixed(1)} MiB, ${(await lag(world)).toString()} blocks behind`,
    );
  }
  return (await checker.announced()).length === 0;
}

/** Resident memory of the service's process, where the system tells (Linux). */
async function memoryOf(pid: number): Promise<string> {
  try {
    const status = await readFile(`/proc/${pid.toString()}/status`, "utf8");
    const kibibytes = /VmRSS:\s+(\d+)/.exec(status)?.[1];
    return kibibytes === undefined ? "unknown" : `${(Number(kibibytes) / 1024).toFixed(0)} MiB`;
  } catch {
    return "unknown";
  }
}

async function lag(world: World): Promise<number> {
  const database = new BetterSqlite3(world.databaseFile, { readonly: true });
  try {
    const row = database.prepare<[], { value: string }>("select value from meta where key = 'checkpoint'").get();
    return (await world.node.provider.getBlockNumber()) - Number(row?.value ?? 0);
  } finally {
    database.close();
  }
}
