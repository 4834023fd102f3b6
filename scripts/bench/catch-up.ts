import { anvilBinary } from "../scene/anvil.ts";
import { NodeProcess } from "../scene/node.ts";
import { Outsider } from "./outsider.ts";
import type { Figure, Lab } from "./scenario.ts";
import { World } from "./world.ts";

const WALLETS = 20;
/** Milliseconds within which the service must catch up. */
const WITHIN = 600_000;

/** How fast the service stores transfers of blocks that it missed, while a wallet's page is asked for all the time. */
export async function catchUp(lab: Lab): Promise<Figure[]> {
  const tokens = lab.quick ? 2_000 : 50_000;
  // The faster of the two nodes, where there is a package for it.
  const node = () => (anvilBinary() === null ? NodeProcess.hardhat() : NodeProcess.underLoad({ miner: true }));
  return World.use(lab, { node }, async (world) => {
    const wallets: string[] = [];
    while (wallets.length < WALLETS) wallets.push(await world.wallet());
    const collection = await world.collection();
    const outsider = await Outsider.start(world.node);
    await outsider.admitTo(collection);
    await world.stopService();
    await outsider.sell(collection, wallets, tokens);
    await world.startService();
    return watch(world, wallets.at(-1) ?? "", tokens / WALLETS);
  });
}

/** Counts from the first transfers that a wallet shows until it shows all of them. */
async function watch(world: World, wallet: string, expected: number): Promise<Figure[]> {
  const deadline = performance.now() + WITHIN;
  let first: { total: number; at: number } | null = null;
  let slowest = 0;
  for (;;) {
    const asked = performance.now();
    const call = { method: "GET", path: `/v1/accounts/${wallet}?limit=1` } as const;
    const { total } = await world.load.send<{ total: number }>(call);
    const now = performance.now();
    slowest = Math.max(slowest, now - asked);
    if (total > 0) first ??= { total, at: now };
    if (first !== null && total >= expected) {
      const transfers = (total - first.total) * WALLETS;
      return [
        { what: "missed transfers stored", unit: "/s", value: (transfers * 1_000) / (now - first.at) },
        { what: "slowest page meanwhile", unit: "ms", value: slowest },
      ];
    }
    if (now > deadline) throw new Error(`stored ${total.toString()} of ${expected.toString()} transfers in time`);
  }
}
