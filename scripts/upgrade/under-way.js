import { existsSync } from "node:fs";
import { join } from "node:path";
import { parkRows } from "../../api/store/db/parked-rows.ts";
import { Program } from "../scene/program.ts";
import { openRecords, withRecords } from "../scene/records.ts";
import { leaveDeliveries, leaveMediaWork } from "./leftovers.ts";
/** Milliseconds of an answer that comes too late: the caller is killed before. */
const TOO_LATE = 60_000;
/** So deep that no block of the fixture is final. */
const UNCONFIRMED = { CONFIRMATIONS: "5000" };
/** Blocks that `reconcile` reads before it is killed. */
const READ = 50;
/** From the token that is moved to the one that is burnt. */
const BURNT = 5;
const SENDING = ["eth_sendRawTransaction"];
/** Leaves requests under way in every state, and kills the process that works on them. */
export async function leaveUnderWay(world, made) {
    const left = [];
    const accept = async (state, calls) => {
        await world.start("api");
        for (const { app, path, body, method } of calls) {
            left.push({ state, app: app.name, id: await world.accept(app, path, body, method) });
        }
        await world.killAll();
    };
    const picture = (name) => withMedia(made, name, world.outside.origin);
    await interruptReconcile(world);
    await accept("mined, not confirmed", oneOfEach(made, 2));
    await mineThem(world);
    await accept("sent, not mined", oneOfEach(made, 3));
    await sendInVain(world);
    await accept("signed, not sent", oneOfEach(made, 4));
    await signOnly(world);
    await accept("claimed", oneOfEach(made, 5));
    await claimOnly(world);
    await accept("its media cannot be fetched", [picture("broken")]);
    await tryMedia(world);
    await accept("its media were fetched by a process that died", [picture("lost")]);
    await dieWithMedia(world);
    await accept("accepted", [...oneOfEach(made, 6), picture("late"), ...alone(made)]);
    await parkOne(world, left);
    await leaveDeliveries(world, made);
    await leaveMediaWork(world);
    return left;
}
/** As if the relayer had failed on the newest request. It is tried again after a minute. */
async function parkOne({ database }, left) {
    const { id = "" } = left.at(-1) ?? {};
    await database.write((trx) => parkRows(trx, "request", [{ id, error: new Error("as if it had failed") }], Date.now()));
}
/** A request of every type, on tokens that no other call uses. @param token of the first wallet, 2 to 6; another 5 above is burnt. */
function oneOfEach({ shop, wallets, erc721, erc1155, selfHosted, foreign }, token) {
    const [from, to] = wallets;
    const mint = (body) => ({ app: shop, path: "/v1/nfts", body });
    const transfer = (body) => ({
        app: shop,
        path: "/v1/transfers",
        body: { from_address: from, to_address: to, ...body },
    });
    const id = 100 + token;
    return [
        { app: shop, path: "/v1/collections", body: { type: "ERC721", name: `Later ${token.toString()}`, symbol: "LTR" } },
        mint({
            collection_address: erc721,
            to_address: to,
            name: "Under way",
            unlockable_content: `secret ${token.toString()}`,
        }),
        mint({ collection_address: erc1155, initial_owner: to, token_id: id, initial_supply: 2 }),
        mint({ collection_address: erc1155, to_address: to, token_id: 7, quantity: 1 }),
        mint({ collection_address: selfHosted, to_address: to, token_id: 1, quantity: 1 }),
        transfer({ contract_address: erc721, token_id: token }),
        transfer({ contract_address: erc1155, token_id: 7, amount: 1 }),
        {
            app: shop,
            path: "/v1/burns",
            body: { contract_address: erc721, from_address: from, token_id: token + BURNT },
        },
        transfer({ contract_address: foreign, token_id: token }),
        {
            app: shop,
            path: `/v1/collections/${erc721}/${token.toString()}`,
            body: { description: "changed" },
            method: "PATCH",
        },
    ];
}
function withMedia({ shop, erc721, wallets }, image, origin) {
    const body = {
        collection_address: erc721,
        to_address: wallets[0],
        image: `${origin}/media/${image}.svg`,
        copy_media: true,
    };
    return { app: shop, path: "/v1/nfts", body };
}
/** Calls that are made once. The collection is frozen when its token is minted. */
function alone({ press, closing, ofPress, ofClosing, wallets }) {
    return [
        { app: press, path: "/v1/nfts", body: { collection_address: ofPress, to_address: wallets[1] } },
        { app: closing, path: "/v1/nfts", body: { collection_address: ofClosing, to_address: wallets[1] } },
        { app: press, path: `/v1/collections/${ofPress}/freeze`, body: {} },
    ];
}
/** Kills `reconcile` while it reads the chain. What it has read stays in a database of its own. */
async function interruptReconcile(world) {
    world.proxy.fault = { kind: "delay", probability: 1, methods: ["eth_getLogs"], amount: 200 };
    const env = { PATH: process.env["PATH"], ...world.env };
    const reconcile = new Program(["api/cli/main.ts", "reconcile"], { env });
    const file = join(world.folder, "reconcile", "chain.sqlite");
    await world.until("reconcile has read some ranges", async () => existsSync(file) && (await lastBlockIn(file)) > READ);
    if ((await reconcile.end("SIGKILL")) !== "SIGKILL")
        throw new Error(`reconcile ended before it was killed:\n${reconcile.output}`);
    world.proxy.fault = null;
}
/** The last block that a run of `reconcile` has stored. It creates its tables when it begins. */
function lastBlockIn(file) {
    return withRecords(openRecords(`file:${file}`), async (records) => {
        const tables = await records.all("select name from sqlite_schema where name = 'meta'");
        if (tables.length === 0)
            return 0;
        const [row] = await records.all("select value from meta where key = 'checkpoint'");
        return Number(row?.value ?? 0);
    });
}
/** Executes the waiting requests in blocks that are not deep enough yet. */
async function mineThem(world) {
    await world.start("relayer,indexer", UNCONFIRMED);
    await world.until("every sent request is in a block", () => isEmpty(world, "outcome is null"));
    await world.killAll();
}
/** Sends to a node that loses every transaction. Lane 0 takes them all. */
async function sendInVain(world) {
    world.proxy.fault = { kind: "lose-broadcast", probability: 1, methods: SENDING };
    await world.start("relayer", { LANES: "1" });
    const sent = "batch_id in (select batch_id from attempts where sent_at is not null)";
    await world.until("every request is sent", () => isEmpty(world, `status = 'pending' or not (${sent})`));
    await world.killAll();
}
/** The node does not answer, so lane 0 waits and lane 1 takes the requests. */
async function signOnly(world) {
    world.proxy.fault = { kind: "delay", probability: 1, methods: SENDING, amount: TOO_LATE };
    await world.start("relayer", { LANES: "2" });
    await world.until("every request is signed", () => isEmpty(world, "status = 'pending'"));
    await world.killAll();
}
/** Lanes 0 and 1 wait for the node, so lane 2 takes the requests. */
async function claimOnly(world) {
    await (await world.start("relayer", { CRASH_POINT: "relayer:claimed" })).gone();
    if (await isEmpty(world, "lane is not null and batch_id is null"))
        throw new Error("no request is claimed");
    world.proxy.fault = null;
}
async function tryMedia(world) {
    world.outside.broken.add("/media/broken.svg");
    await world.start("media");
    await world.until("media were tried", async () => (await world.count("media_jobs where tries > 0")) > 0);
    await world.killAll();
}
async function dieWithMedia(world) {
    await (await world.start("media", { CRASH_POINT: "media:copied" })).gone();
    if ((await world.count("media_jobs where holder is not null")) === 0)
        throw new Error("no media job is taken");
}
/** Whether no unfinished request that is not waiting for media meets the condition. */
async function isEmpty(world, condition) {
    const waiting = "id in (select request_id from media_jobs)";
    const found = `requests where status in ('pending', 'processing') and not (${waiting}) and (${condition})`;
    return (await world.count(found)) === 0;
}
