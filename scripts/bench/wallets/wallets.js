import { join } from "node:path";
import { HDNodeWallet } from "ethers";
import { createWalletDeriver, walletPath, WALLETS_ROOT } from "../../../api/keys/wallet-deriver.ts";
import { withDatabase } from "../../scene/scene.ts";
import { Load } from "../harness/load.ts";
import { profileAt } from "../harness/profile.ts";
import { MeasuredService } from "../harness/measured-service.ts";
import { inTurns, rowsOfCalls, Side } from "../harness/turns.ts";
import { World } from "../harness/world.ts";
import { startBareServer } from "../pipeline/bare/server-process.ts";
import { openBareWallets } from "./bare-store.ts";
const CONNECTIONS = 64;
const APP = "bench";
/** Wallets created and looked up while nothing else runs (`ROLES=api`), beside mints, and beside a bare loop. */
export const wallets = { name: "wallets", measure: run };
async function run(options) {
    const { databases } = options;
    const world = await World.start({ databases, settings: { MAX_BACKLOG: "10000000" } });
    try {
        const mint = { collection_address: await world.collection(), to_address: await world.wallet() };
        await world.stopProcesses();
        return await apiAlone(world, mint, options);
    }
    finally {
        await world.stop();
    }
}
async function apiAlone(world, mint, { quick, profiles, databases }) {
    const calls = quick ? 1_000 : 10_000;
    const api = await MeasuredService.open(world.env, join(world.folder, "api-alone.log"), "api");
    const bare = await startBareServer({ database: world.env.DATABASE_URL, file: join(world.folder, "bare.sqlite") });
    const ours = new Side(api, new Load([api.url ?? ""], CONNECTIONS, world.token));
    const theirs = new Side(bare, new Load([bare.url], CONNECTIONS));
    try {
        let user = 0;
        const ofUser = () => ({ user_identifier: `user-${(user++).toString()}` });
        const [created, unnamed, accepted] = await inTurns(calls, [
            [ours, () => ({ method: "POST", path: "/v1/accounts", body: ofUser() }), profileAt(profiles, "wallets-of-users")],
            [ours, () => ({ method: "POST", path: "/v1/accounts", body: {} }), profileAt(profiles, "wallets-without-user")],
            [ours, () => ({ method: "POST", path: "/v1/nfts", body: mint }), null],
        ]);
        const app = await onlyApp(world.env.DATABASE_URL);
        const anyUser = () => `user-${Math.floor(Math.random() * user).toString()}`;
        const [read, query] = await inTurns(calls, [
            [ours, () => ({ method: "GET", path: `/v1/accounts/user/${anyUser()}` }), profileAt(profiles, "wallet-of-user")],
            [theirs, () => ({ method: "GET", path: `/wallets/${app}/${anyUser()}` }), null],
        ]);
        const loops = await bareLoops(databases, world.folder, calls);
        const mints = { what: "mint accepted", ...accepted };
        return [
            ...rowsOfCalls("wallet of a user created", created, mints, 0.5),
            ...rowsOfCalls("wallet without a user created", unnamed, mints, 0.5),
            loopRow("wallet of a user created", created.rate, "the service's own derivation in one thread, inserted in sets", loops.own),
            loopRow("wallet of a user created", created.rate, "derivation by ethers in one thread, inserted in sets", loops.ethers),
            ...rowsOfCalls("wallet of a user looked up", read, { what: "one prepared query behind Express", ...query }, 0.5),
        ];
    }
    finally {
        await ours.load.close();
        await theirs.load.close();
        await api.stop();
        await bare.stop();
    }
}
function onlyApp(databaseUrl) {
    return withDatabase(databaseUrl, async ({ read }) => {
        return (await read.selectFrom("apps").select("id").executeTakeFirstOrThrow()).id;
    });
}
/** Wallets a second, without HTTP, in sets as large as the number of connections. */
async function bareLoops(databases, folder, count) {
    const root = HDNodeWallet.createRandom("", WALLETS_ROOT).neuter();
    const deriver = createWalletDeriver(root.extendedKey);
    const byEthers = (user) => {
        const path = walletPath(APP, user);
        return { address: root.derivePath(path).address, path };
    };
    const store = await openBareWallets(databases, folder);
    let user = 0;
    const loop = async (total, derive) => {
        const started = performance.now();
        for (let done = 0; done < total; done += CONNECTIONS) {
            const set = Array.from({ length: CONNECTIONS }, () => {
                const name = `user-${(user++).toString()}`;
                return { ...derive(name), user: name };
            });
            await store.insert(set);
        }
        return (Math.ceil(total / CONNECTIONS) * CONNECTIONS * 1_000) / (performance.now() - started);
    };
    try {
        const own = (name) => deriver.derive(APP, name);
        await loop(CONNECTIONS * 4, own);
        await loop(CONNECTIONS, byEthers);
        return { own: await loop(count, own), ethers: await loop(Math.ceil(count / 10), byEthers) };
    }
    finally {
        await store.close();
    }
}
function loopRow(what, measured, baseline, rate) {
    return { what: `${what}, rate`, unit: "/s", measured, baseline: { what: baseline, measured: rate } };
}
