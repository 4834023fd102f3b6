import { mintAll, WARM_UP } from "../harness/measure.ts";
import type { Options, Part } from "../harness/part.ts";
import type { Row } from "../harness/row.ts";
import { World } from "../harness/world.ts";
import { anvilBinary } from "../../scene/anvil.ts";
import { NodeProcess } from "../../scene/node.ts";
import { bareChain, type BareChain, oneByOne } from "../pipeline/bare/chain.ts";
import { installPackages, type Packages, VERSIONS } from "./packages.ts";
import { graphileWorker, pgBoss } from "./queues.ts";
import { type MintOnce, throughEthers, throughViem } from "./senders.ts";

/** Jobs that a queue runs at the same time. The quick form takes the last one, which is the faster. */
const CONCURRENCY = [10, 50] as const;

interface Site {
  world: World;
  chain: BareChain;
  packages: Packages | string;
  mints: number;
  /** A PostgreSQL database for a queue; null on SQLite. */
  database: (() => Promise<string>) | null;
}

/** Another way to do the same mints. */
interface Peer {
  what: string;
  /** Whether the quick form leaves it out. */
  onlyFull?: boolean;
  /** @returns mints a second, or why they cannot be measured. */
  measure(site: Site): Promise<number | string>;
}

/**
 * The same mints through what people would use instead, on the same node. One job is one mint is one transaction. The service
 * is measured from the HTTP calls to `completed`; the peers, without HTTP, until each receipt is there and each job is done. The
 * node is Anvil, which mines each transaction at once. Hardhat's node refuses transactions that overtake each other on their
 * way, as concurrent jobs send them.
 */
export const peers: Part = { name: "peers", measure: run };

async function run({ quick, databases }: Options): Promise<Row[]> {
  // The package exists for one platform only.
  if (anvilBinary() === null) return [];
  const packages = await installPackages();
  const world = await World.start({ databases, node: () => NodeProcess.underLoad() });
  try {
    const [to, collection] = [await world.wallet(), await world.collection()];
    const chain = await bareChain(world.node, to);
    const mints = quick ? 200 : 1_000;
    await mintAll(world, collection, to, WARM_UP, 0);
    const { rate } = await mintAll(world, collection, to, mints, WARM_UP);
    const database = databases.engine === "postgres" ? () => databases.create(world.folder) : null;
    const site: Site = { world, chain, packages, mints, database };
    const rows: Row[] = [serviceRow(rate)];
    for (const peer of PEERS.filter(({ onlyFull }) => !quick || onlyFull !== true))
      rows.push(await rowOf(peer, site, rate));
    return rows;
  } finally {
    await world.stop();
    if (typeof packages !== "string") await packages.remove();
  }
}

const PEERS: readonly Peer[] = [
  {
    what: "ethers 6, NonceManager, the next transaction is sent before the last one is mined",
    measure: ({ chain, mints }) => oneByOne(chain, mints),
  },
  {
    what: `viem ${VERSIONS.viem}, nonceManager, 50 mints at the same time`,
    measure: (site) => throughPackages(site, async (packages) => atOnce(await viem(site, packages), site.mints, 50)),
  },
  ...CONCURRENCY.map((concurrency) =>
    queue(`graphile-worker ${VERSIONS["graphile-worker"]}`, graphileWorker, concurrency),
  ),
  ...CONCURRENCY.map((concurrency) => queue(`pg-boss ${VERSIONS["pg-boss"]}`, pgBoss, concurrency)),
];

function queue(name: string, open: typeof graphileWorker, concurrency: number): Peer {
  return {
    what: `${name}, ${concurrency.toString()} jobs at the same time, each a transaction through ethers`,
    onlyFull: concurrency !== CONCURRENCY.at(-1),
    measure: (site) => {
      const { database } = site;
      if (database === null) return Promise.resolve("the queue needs PostgreSQL: run with --engine postgres");
      return throughPackages(site, async (packages) => {
        const runQueue = await open(packages, await database(), concurrency);
        return runQueue(site.mints, throughEthers(site.chain));
      });
    },
  };
}

async function throughPackages(
  { packages }: Site,
  measure: (packages: Packages) => Promise<number>,
): Promise<number | string> {
  return typeof packages === "string" ? packages : measure(packages);
}

function viem({ world, chain }: Site, packages: Packages): Promise<MintOnce> {
  return throughViem(packages, chain, world.node.url);
}

/** @returns mints a second. */
async function atOnce(mintOnce: MintOnce, mints: number, concurrency: number): Promise<number> {
  const started = performance.now();
  let left = mints;
  const one = async () => {
    while (left-- > 0) await mintOnce();
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return (mints * 1_000) / (performance.now() - started);
}

function serviceRow(rate: number): Row {
  return {
    what: "mints settled, beside peers",
    unit: "/s",
    measured: rate,
    note:
      "published by others, not measured here: thirdweb Engine v2 on a host with 1 vCPU and 1 GB, transactions in a block from " +
      "one wallet: 1,500 on B3 testnet, 65 on Base testnet, 85 on Polygon testnet, 100 on Arbitrum testnet " +
      "(https://blog.thirdweb.com/changelog/engine-v2-is-now-available)",
  };
}

async function rowOf(peer: Peer, site: Site, service: number): Promise<Row> {
  const measured = await peer.measure(site);
  const what = `mints through ${peer.what}`;
  if (typeof measured === "string") {
    return { what, unit: "/s", measured: null, note: `not measured: ${measured}` };
  }
  return {
    what,
    unit: "/s",
    measured,
    baseline: { what: "the service, same mints", measured: service },
  };
}
