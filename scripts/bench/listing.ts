import { type Figure, type Lab, median, percentile } from "./scenario.ts";
import { BATCH, World } from "./world.ts";

/** Entries of a full page, which is what the service gives by default. */
const PAGE = 30;

interface Page {
  total: number;
  [list: string]: unknown;
}

/** Pages of lists, first with a batch of tokens, then with many. A page of a long list must not take longer. */
export async function listing(lab: Lab): Promise<Figure[]> {
  const large = lab.quick ? 5_000 : 50_000;
  const times = lab.quick ? 200 : 2_000;
  return World.use(lab, { settings: { MAX_BACKLOG: "10000000" } }, async (world) => {
    const [owner, collection] = [await world.wallet(), await world.collection()];
    const body = { collection_address: collection, to_address: owner };
    await world.mintInBatches(body, BATCH, 0);
    const small = await readAll(world, body, { tokens: BATCH, times });
    await world.mintInBatches(body, large - BATCH, BATCH);
    const grown = await readAll(world, body, { tokens: large, times });
    return [...small, ...grown];
  });
}

async function readAll(
  world: World,
  { to_address: owner, collection_address: collection }: { to_address: string; collection_address: string },
  { tokens, times }: { tokens: number; times: number },
): Promise<Figure[]> {
  const lists: [what: string, path: string, list: string][] = [
    ["wallet contents", `/v1/accounts/${owner}`, "nfts"],
    ["collection", `/v1/collections/${collection}`, "nfts"],
    ["wallet history", `/v1/accounts/${owner}/history`, "history"],
    ["requests", "/v1/requests", "requests"],
    ["events", "/v1/events", "events"],
  ];
  const figures: Figure[] = [];
  for (const [what, path, list] of lists) {
    const taken: number[] = [];
    while (taken.length < times) {
      const started = performance.now();
      const page = await world.load.send<Page>({ method: "GET", path });
      taken.push(performance.now() - started);
      if ((page[list] as unknown[]).length !== PAGE) throw new Error(`${path} is not a full page`);
    }
    const label = `page of ${what}, ${tokens.toLocaleString("en")} tokens`;
    figures.push({ what: `${label}, median`, unit: "ms", value: median(taken) });
    figures.push({ what: `${label}, p99`, unit: "ms", value: percentile(taken, 0.99) });
  }
  return figures;
}
