import { residentOf, resetPeak } from "../scene/resident.ts";
import { type Figure, type Lab, percentile } from "./scenario.ts";
import { BATCH, World } from "./world.ts";

/** Most MiB that an export may add to the memory of the service, however long it is. */
const MOST = 150;

/** All holders of a collection at once, by a service that has just started, while another connection asks for small pages. */
export async function exports(lab: Lab): Promise<Figure[]> {
  const holders = lab.quick ? 20_000 : 200_000;
  return World.use(lab, { settings: { MAX_BACKLOG: "10000000" } }, async (world) => {
    const collection = await world.collection();
    const body = { collection_address: collection, to_address: await world.wallet({ user_identifier: "alice" }) };
    await world.mintInBatches(body, holders, 0);
    await world.stopService();
    await world.startService();
    await world.load.send({ method: "GET", path: "/v1/accounts?limit=1" });
    const before = (await residentOf(world.pid))?.now ?? null;
    await resetPeak(world.pid);
    const started = performance.now();
    const exported = exportRows(world, `/v1/exports/holders?collection=${collection}`);
    const { rows, taken } = await besides(world, exported);
    const seconds = (performance.now() - started) / 1_000;
    if (rows !== Math.ceil(holders / BATCH) * BATCH) throw new Error(`exported ${rows.toString()} rows`);
    const peak = (await residentOf(world.pid))?.peak;
    const added = before === null || peak === undefined ? null : peak - before;
    const label = `export of ${holders.toLocaleString("en")} holders`;
    return [
      { what: label, unit: "/s", value: rows / seconds },
      { what: `${label}: memory added`, unit: "MiB", value: added, atMost: MOST },
      { what: `${label}: page meanwhile, p99`, unit: "ms", value: percentile(taken, 0.99) },
      { what: `${label}: slowest page meanwhile`, unit: "ms", value: Math.max(...taken) },
    ];
  });
}

async function exportRows({ url, token }: World, path: string): Promise<number> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status.toString()} ${await answer.text()}`);
  let rows = 0;
  // As it arrives: this process also measures the pages.
  for await (const part of answer.body as AsyncIterable<Uint8Array>) {
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) rows++;
  }
  return rows;
}

/** Asks for pages, one after the other, until the work is done. */
async function besides(world: World, work: Promise<number>): Promise<{ rows: number; taken: number[] }> {
  const [taken, isDone]: [number[], { yes: boolean }] = [[], { yes: false }];
  const done = work.finally(() => (isDone.yes = true));
  while (!isDone.yes) {
    const asked = performance.now();
    await world.load.send({ method: "GET", path: "/v1/accounts?limit=1" });
    taken.push(performance.now() - asked);
  }
  return { rows: await done, taken };
}
