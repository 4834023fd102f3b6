import { plural } from "../../api/shared/text.ts";
import { until, waitFor } from "../scene/until.ts";
import { checkPromises, partition } from "./checks.ts";
import { Load } from "./load.ts";
import { World } from "./world.ts";
/** Requests that are accepted before the backup, while it runs, and after it, before the disk is lost. */
const BEFORE = 40;
const AFTER = 40;
const CAP = 100;
const STEP = { within: 180_000 };
/**
 * Rehearses the loss of a disk: backs up a service under load, lets the load go on, kills the service, deletes its data,
 * restores, reconciles, starts, and compares. Everything is scratch: a node, a chain, and keys of its own.
 */
export async function drill(engine, say) {
    const world = await World.create(engine);
    try {
        return await rehearse(world, engine, say);
    }
    finally {
        await world.stop();
    }
}
async function rehearse(world, engine, say) {
    const began = performance.now();
    const step = (text) => {
        say(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${text}`);
    };
    // Nobody delivers webhooks yet: those of the backup wait for the restored service.
    await world.start({ ROLES: "api,relayer,indexer,media" });
    step(`A service runs (${engine === "sqlite" ? "SQLite" : "PostgreSQL"}); its keys are not on the disk that will be lost.`);
    const collections = { capped: await collection(world, CAP), open: await collection(world, null), cap: CAP };
    await world.call("PUT", "/v1/webhook", { url: world.receiver.url });
    const load = new Load(world, [collections.capped, collections.open]);
    load.start();
    await until("requests before the backup", () => load.accepted.length >= BEFORE, STEP);
    const before = load.accepted.length;
    const folder = `${world.folder}/backup`;
    await world.cli("backup", folder);
    step(`backup: made and checked while requests came in (${before.toString()} before it, ${load.accepted.length.toString()} at its end).`);
    const lastInTime = load.accepted.length;
    await until("requests after the backup", () => load.accepted.length >= lastInTime + AFTER, STEP);
    await until("results after the backup", () => someCompleted(world, load), STEP);
    await loseAll(world, load, step);
    step((await world.cli("restore", folder)).split("\n")[0] ?? "");
    step(await refusedStart(world));
    const reconciled = JSON.parse(await world.cli("reconcile", "--json"));
    step(describe(reconciled));
    const exact = {
        promise: "What reconcile adopts leaves every total exact",
        holds: reconciled.comparison.differences === 0,
        detail: plural(reconciled.comparison.differences, "difference"),
    };
    await world.start();
    const known = await partition(world, load);
    step(`The service runs again. It knows ${known.inBackup.length.toString()} of the requests; ${known.after.length.toString()} came after the backup.`);
    const checks = [exact, ...(await checkPromises(world, known, collections))];
    for (const { promise, holds, detail } of checks)
        step(`${holds ? "holds  " : "BROKEN "} ${promise}: ${detail}.`);
    return checks;
}
/** Kills the service in the middle of the load, and deletes its data. */
async function loseAll(world, load, step) {
    const stopped = load.stop();
    await world.kill();
    await stopped;
    await world.loseDisk();
    step(`kill -9, and the disk is lost, after ${plural(load.accepted.length, "accepted request")}.`);
    // What was sent is mined, as the pages about back-ups ask for.
    await world.node.mine();
}
function describe({ recovery, comparison }) {
    if (recovery === null)
        return "reconcile: nothing was sent after the backup.";
    return (`reconcile: ${plural(recovery.transactions, "unknown transaction")} on chain, with ${plural(recovery.recognised, "request")} of the backup and ` +
        `${recovery.added.toString()} unknown ones; ${plural(recovery.uncertain.length, "waiting request")} of the backup ran already.` +
        comparison.told
            .map(({ what, stored, chain }) => `\n          ${what}: stored ${stored}; on chain ${chain}`)
            .join(""));
}
async function collection(world, cap) {
    const body = { type: "ERC721", name: "Drill", symbol: "DRL", ...(cap === null ? {} : { mint_supply_count: cap }) };
    const { body: answer } = await world.call("POST", "/v1/collections", body);
    const look = async () => {
        const { body: request } = await world.call("GET", `/v1/requests/${String(answer["request_id"])}`);
        return request["status"] === "completed" ? String(request["nft_collection"]) : null;
    };
    return waitFor("a collection", look, STEP);
}
/** Whether the newest but twenty requests are completed. */
async function someCompleted(world, load) {
    const late = load.accepted.at(-20);
    if (late === undefined)
        return false;
    const { body } = await world.call("GET", `/v1/requests/${late.id}`);
    return body["status"] === "completed";
}
/** The service does not start with an old copy. */
async function refusedStart(world) {
    const message = await world.start().then(() => null, (error) => error.message);
    const why = /it is an old backup, or another service uses the same seed/.exec(message ?? "")?.[0];
    if (why === undefined)
        throw new Error(`The service should have refused to start: ${message ?? "it started"}`);
    return `start: refused, because the chain has transactions that the copy does not know ("${why}").`;
}
