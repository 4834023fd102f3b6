import { mintAll, WARM_UP } from "../harness/measure.ts";
import { World } from "../harness/world.ts";
import { anvilBinary } from "../../scene/anvil.ts";
import { NodeProcess } from "../../scene/node.ts";
import { bareChain, oneByOne } from "../pipeline/bare/chain.ts";
import { installPackages, VERSIONS } from "./packages.ts";
import { graphileWorker, pgBoss } from "./queues.ts";
import { throughEthers, throughViem } from "./senders.ts";
/** Jobs that a queue runs at the same time. The quick form takes the last one, which is the faster. */
const CONCURRENCY = [10, 50];
/**
 * The same mints through what people would use instead, on the same node. One job is one mint is one transaction. The service
 * is measured from the HTTP calls to `completed`; the peers, without HTTP, until each receipt is there and each job is done. The
 * node is Anvil, which mines each transaction at once. Hardhat's node refuses transactions that overtake each other on their
 * way, as concurrent jobs send them.
 */
export const peers = { name: "peers", measure: run };
async function run({ quick, databases }) {
    // The package exists for one platform only.
    if (anvilBinary() === null)
        return [];
    const packages = await installPackages();
    const world = await World.start({ databases, node: () => NodeProcess.underLoad() });
    try {
        const [to, collection] = [await world.wallet(), await world.collection()];
        const chain = await bareChain(world.node, to);
        const mints = quick ? 200 : 1_000;
        await mintAll(world, collection, to, WARM_UP, 0);
        const { rate } = await mintAll(world, collection, to, mints, WARM_UP);
        const database = databases.engine === "postgres" ? () => databases.create(world.folder) : null;
        const site = { world, chain, packages, mints, database };
        const rows = [serviceRow(rate)];
        for (const peer of PEERS.filter(({ onlyFull }) => !quick || onlyFull !== true))
            rows.push(await rowOf(peer, site, rate));
        return rows;
    }
    finally {
        await world.stop();
        if (typeof packages !== "string")
            await packages.remove();
    }
}
const PEERS = [
    {
        what: "ethers 6, NonceManager, the next transaction is sent before the last one is mined",
        measure: ({ chain, mints }) => oneByOne(chain, mints),
    },
    {
        what: `viem ${VERSIONS.viem}, nonceManager, 50 mints at the same time`,
        measure: (site) => throughPackages(site, async (packages) => atOnce(await viem(site, packages), site.mints, 50)),
    },
    ...CONCURRENCY.map((concurrency) => queue(`graphile-worker ${VERSIONS["graphile-worker"]}`, graphileWorker, concurrency)),
    ...CONCURRENCY.map((concurrency) => queue(`pg-boss ${VERSIONS["pg-boss"]}`, pgBoss, concurrency)),
];
function queue(name, open, concurrency) {
    return {
        what: `${name}, ${concurrency.toString()} jobs at the same time, each a transaction through ethers`,
        onlyFull: concurrency !== CONCURRENCY.at(-1),
        measure: (site) => {
            const { database } = site;
            if (database === null)
                return Promise.resolve("the queue needs PostgreSQL: run with --engine postgres");
            return throughPackages(site, async (packages) => {
                const runQueue = await open(packages, await database(), concurrency);
                return runQueue(site.mints, throughEthers(site.chain));
            });
        },
    };
}
async function throughPackages({ packages }, measure) {
    return typeof packages === "string" ? packages : measure(packages);
}
function viem({ world, chain }, packages) {
    return throughViem(packages, chain, world.node.url);
}
/** @returns mints a second. */
async function atOnce(mintOnce, mints, concurrency) {
    const started = performance.now();
    let left = mints;
    const one = async () => {
        while (left-- > 0)
            await mintOnce();
    };
    await Promise.all(Array.from({ length: concurrency }, one));
    return (mints * 1_000) / (performance.now() - started);
}
function serviceRow(rate) {
    return {
        what: "mints settled, beside peers",
        unit: "/s",
        measured: rate,
        note: "published by others, not measured here: thirdweb Engine v2 on a host with 1 vCPU and 1 GB, transactions in a block from " +
            "one wallet: 1,500 on B3 testnet, 65 on Base testnet, 85 on Polygon testnet, 100 on Arbitrum testnet " +
            "(https://blog.thirdweb.com/changelog/engine-v2-is-now-available)",
    };
}
async function rowOf(peer, site, service) {
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
