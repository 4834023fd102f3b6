import { residentOf } from "../scene/resident.ts";
import { type Figure, type Lab, median } from "./scenario.ts";
import { World } from "./world.ts";

/** Mints before a measurement: the code is compiled by then. */
const WARM_UP = 300;
const UNLIMITED_BACKLOG = { MAX_BACKLOG: "10000000" };

/** Mints and transfers from the HTTP call to `completed`, in one process with all roles; then the API alone. */
export async function pipeline(lab: Lab): Promise<Figure[]> {
  const mints = lab.quick ? 1_000 : 4_000;
  return World.use(lab, { settings: UNLIMITED_BACKLOG }, async (world) => {
    const [from, to, collection] = [await world.wallet(), await world.wallet(), await world.collection()];
    const body = { collection_address: collection, to_address: from };
    const settled = await settle(world, { body, to, mints });
    const contents = await world.load.run(mints, () => ({ method: "GET", path: `/v1/accounts/${to}` }));
    const inBatches = lab.quick ? 2_000 : 12_000;
    const started = performance.now();
    await world.mintInBatches(body, inBatches, WARM_UP + mints);
    const batches = (inBatches * 1_000) / (performance.now() - started);
    const alone = await mintAlone(world, body, lab.quick ? 10 : 40);
    const peak = (await residentOf(world.pid))?.peak ?? null;
    await world.stopService();
    await world.startService("api");
    return [
      ...settled,
      { what: "contents of a wallet, right after the transfers", unit: "/s", value: contents },
      { what: "mints settled, in batches of 1,000", unit: "/s", value: batches },
      { what: "one mint alone until completed, median", unit: "ms", value: alone },
      { what: "memory of the service, at most", unit: "MiB", value: peak },
      ...(await acceptAlone(world, body, lab.quick ? 2_500 : 10_000)),
    ];
  });
}

interface Burst {
  /** Of a mint. */
  body: object & { to_address: string; collection_address: string };
  /** Who receives half of the tokens. */
  to: string;
  mints: number;
}

/** Mints, then transfers of half of the tokens, and what each cost. */
async function settle(world: World, { body, to, mints }: Burst): Promise<Figure[]> {
  await world.mint(body, WARM_UP, 0);
  const minted = await cost(world, "mint", mints, () => world.mint(body, mints, WARM_UP));
  const transfers = Math.floor(mints / 2);
  const moved = await cost(world, "transfer", transfers, async () => {
    await world.load.run(transfers, (index) => ({
      method: "POST",
      path: "/v1/transfers",
      body: {
        contract_address: body.collection_address,
        from_address: body.to_address,
        to_address: to,
        token_id: index + 1,
      },
    }));
    await world.untilCompleted("transfer", transfers);
  });
  return [...minted, ...moved];
}

async function cost(world: World, what: string, requests: number, work: () => Promise<void>): Promise<Figure[]> {
  const before = await world.usage();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1_000;
  const after = await world.usage();
  const each = (pick: keyof typeof after) => (after[pick] - before[pick]) / requests;
  return [
    { what: `${what}s settled`, unit: "/s", value: requests / seconds },
    { what: `SQL statements for a ${what}`, unit: "", value: each("statements") },
    { what: `SQL writes for a ${what}`, unit: "", value: each("writes") },
    { what: `RPC calls for a ${what}`, unit: "", value: each("rpcCalls") },
    { what: `CPU time for a ${what}`, unit: "ms", value: each("cpuMs") },
  ];
}

/** @returns milliseconds from the call to `completed` while nothing else happens. */
async function mintAlone(world: World, body: object, times: number): Promise<number> {
  const taken: number[] = [];
  while (taken.length < times) {
    const started = performance.now();
    const call = { method: "POST", path: "/v1/nfts", body } as const;
    const { request_id: id } = await world.load.send<{ request_id: string }>(call);
    await world.final(id, 2);
    taken.push(performance.now() - started);
  }
  return median(taken);
}

/** Calls a second of a process with `ROLES=api`, and the CPU time of a call. */
async function acceptAlone(world: World, body: { to_address: string }, calls: number): Promise<Figure[]> {
  const mint = () => ({ method: "POST", path: "/v1/nfts", body }) as const;
  const read = () => ({ method: "GET", path: `/v1/accounts/${body.to_address}` }) as const;
  const figures: Figure[] = [];
  for (const [what, call] of [
    ["mints accepted, role api alone", mint],
    ["contents of a wallet, role api alone", read],
  ] as const) {
    await world.load.run(Math.floor(calls / 5), call); // warms up
    const before = await world.usage();
    figures.push({ what, unit: "/s", value: await world.load.run(calls, call) });
    const cpuMs = ((await world.usage()).cpuMs - before.cpuMs) / calls;
    figures.push({ what: `CPU time of ${what}`, unit: "ms", value: cpuMs });
  }
  return figures;
}
