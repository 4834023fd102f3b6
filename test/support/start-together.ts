import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { TestProcess } from "./process.ts";

/**
 * Runs the same code in several processes, so that what follows `await together()` in it begins in all of them at the same
 * time.
 * @param code of a module, with the arguments from `process.argv[2]` on.
 * @param folder an empty one.
 * @returns the processes, which have ended.
 */
export async function startTogether(
  count: number,
  folder: string,
  code: string,
  args: readonly string[],
): Promise<TestProcess[]> {
  const go = join(folder, "go");
  const processes = Array.from(
    { length: count },
    () => new TestProcess(["--input-type=module", "-e", WAITING + code, go, ...args], {}),
  );
  await Promise.all(processes.map((one) => one.printed(/ready\n/)));
  await writeFile(go, "");
  await Promise.all(processes.map((one) => one.gone()));
  return processes;
}

/** A file starts all of them. Looking for it more often would take the time of the processes that are not ready yet. */
const WAITING = `
  import { existsSync } from "node:fs";
  import { setTimeout as wait } from "node:timers/promises";
  async function together() {
    console.log("ready");
    while (!existsSync(process.argv[1])) await wait(1);
  }
`;
