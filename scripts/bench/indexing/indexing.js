import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathOf, openExistingDatabase } from "../../../api/store/db/database.ts";
import { anvilBinary } from "../../scene/anvil.ts";
import { NodeProcess } from "../../scene/node.ts";
import { World } from "../harness/world.ts";
import { Outsider } from "./backlog.ts";
import { bareLoop } from "./bare/loop.ts";
import { openPostgres, openSqlite } from "./bare/store.ts";
import { catchUp } from "./catch-up.ts";
import { compare } from "./compare.ts";
import { addCollections, followForeign } from "./followed.ts";
import { answersOf } from "./probe.ts";
const WALLETS = 20;
const COLLECTIONS = 4;
const FOREIGN = 20;
/** The faster of the two nodes, where there is a package for it. */
const NODE = anvilBinary() === null ? "hardhat" : "anvil";
/** Collections of the last backlog. */
const FOLLOWED = 10_000;
/** Calls from which on a p99 says something. */
const ENOUGH = 500;
/**
 * How fast the service catches up with blocks that it missed. Baseline: a bare loop that reads, decodes and stores the same
 * logs of the same node. Meanwhile, another connection calls the API.
 */
export const indexing = { name: "indexing", measure: run };
const FULL = { minted: 10_000, own: 100_000, foreign: 100_000, followed: 20_000 };
const QUICK = { minted: 0, own: 2_000, foreign: 2_000, followed: 0 };
async function run({ quick, profiles, databases }) {
    const node = () => (NODE === "hardhat" ? NodeProcess.hardhat() : NodeProcess.underLoad({ miner: true }));
    const world = await World.start({ databases, node });
    try {
        const outsider = await Outsider.start(world.node);
        const site = await Site.open(world, outsider, { databases, profiles });
        try {
            return rowsOf(await measureAll(site, outsider, quick ? QUICK : FULL), NODE);
        }
        finally {
            await site.close();
        }
    }
    finally {
        await world.stop();
    }
}
async function measureAll(site, outsider, sizes) {
    const { wallets, foreign } = site;
    const measured = [];
    const measure = async (name, what, backlog) => {
        measured.push({ what, ...(await site.measure(name, backlog)) });
    };
    if (sizes.minted > 0) {
        await measure("indexed-mints", "mints by an outside minter", await outsider.mints(wallets, sizes.minted));
    }
    await measure("indexed-own", "transfers in own collections", await outsider.sales(wallets, sizes.own));
    const received = await outsider.foreignMints(foreign, wallets, sizes.foreign);
    await measure("indexed-foreign", "transfers in contracts of others", received);
    if (sizes.followed > 0) {
        await site.addCollections(FOLLOWED);
        const { from, events } = await outsider.sales(wallets, sizes.followed / 2);
        const { to, events: others } = await outsider.foreignMints(foreign, wallets, sizes.followed / 2);
        const both = { from, to, events: events + others };
        await measure("indexed-followed", "half of each, 10,000 collections followed", both);
    }
    return measured;
}
/** What all backlogs have in common: an app with wallets, collections and followed contracts, and the two databases. */
class Site {
    wallets;
    foreign;
    #world;
    #collections;
    #database;
    #bare;
    #profiles;
    constructor(world, fields, profiles) {
        this.#world = world;
        this.wallets = fields.wallets;
        this.foreign = fields.foreign;
        this.#collections = fields.collections;
        this.#database = fields.database;
        this.#bare = fields.bare;
        this.#profiles = profiles;
    }
    static async open(world, outsider, { databases, profiles }) {
        const wallets = await Promise.all(Array.from({ length: WALLETS }, () => world.wallet()));
        const collections = await Promise.all(Array.from({ length: COLLECTIONS }, () => world.collection()));
        for (const collection of collections)
            await outsider.admitTo(collection);
        const foreign = await outsider.foreignContracts(FOREIGN);
        await followForeign(world, wallets[0] ?? "", foreign);
        await world.stopProcesses();
        const database = await openExistingDatabase(world.env.DATABASE_URL);
        const bare = await openBare(databases, join(world.folder, "bare"));
        return new Site(world, { wallets, foreign, collections, database, bare }, profiles);
    }
    /** Registers collections that nobody uses. */
    async addCollections(count) {
        const [like = ""] = this.#collections;
        this.#collections.push(...(await addCollections(this.#database, like, count - this.#collections.length)));
    }
    async measure(name, backlog) {
        const [wallet = "", collection = ""] = [this.wallets[1], this.#collections[0]];
        const calls = [
            { method: "GET", path: `/v1/accounts/${wallet}` },
            { method: "POST", path: "/v1/nfts", body: { collection_address: collection, to_address: wallet } },
            { method: "GET", path: `/v1/accounts/${wallet}/history` },
        ];
        const caught = await catchUp(this.#world, this.#database, { backlog, calls, profiles: this.#profiles, name });
        const contracts = [...this.#collections, ...this.foreign];
        const bare = await bareLoop(this.#world.node, this.#bare, contracts, backlog);
        const real = { collections: this.#collections.slice(0, COLLECTIONS), foreign: this.foreign };
        await compare(this.#world.node, this.#database, this.#bare, real.collections);
        return { ...caught, events: backlog.events, blocks: backlog.to - backlog.from + 1, bare };
    }
    async close() {
        await this.#bare.close();
        await this.#database.close();
    }
}
async function openBare(databases, folder) {
    await mkdir(folder);
    const url = await databases.create(folder);
    return databases.engine === "sqlite" ? openSqlite(pathOf(url)) : openPostgres(url);
}
function rowsOf(measured, node) {
    const answers = answersOf(measured.map(({ times }) => times));
    const call = (what, ms) => ({
        what: `${what} of ${count(answers.calls)} API calls while it catches up`,
        unit: "ms",
        measured: ms,
        goal: { atMost: 100 },
    });
    return [
        ...measured.map(({ what, rate, bare, events, blocks }) => ({
            what: `indexed: ${count(events)} ${what}, ${count(blocks)} blocks`,
            unit: "/s",
            measured: rate,
            baseline: { what: `bare loop of getLogs, decode, insert; ${node}`, measured: bare },
            goal: { atLeast: 0.5 },
        })),
        ...(answers.calls < ENOUGH ? [] : [call("p99", answers.p99)]),
        call("slowest", answers.slowest),
    ];
}
function count(value) {
    return value.toLocaleString("en");
}
