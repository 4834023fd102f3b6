import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { getAddress, hexlify } from "ethers";
import { ERC721Collection__factory } from "../../contracts/generated/factories/ERC721Collection__factory.ts";
import { withDatabase } from "../scene/scene.ts";
/** Longest wait for all requests to become final, in milliseconds. */
const SETTLE_TIMEOUT = 180_000;
/** Asks the restored service for each request. */
export async function partition(world, load) {
    const known = { inBackup: [], after: [] };
    for (const mint of load.accepted) {
        const { status } = await world.call("GET", `/v1/requests/${mint.id}`);
        known[status === 200 ? "inBackup" : "after"].push(mint);
    }
    return known;
}
/** Waits until the requests of the backup are final, then compares the caller's records, the database and the chain. */
export async function checkPromises(world, known, collections) {
    const statuses = await settled(world, known.inBackup);
    const all = [...known.inBackup, ...known.after];
    const [capped, open] = [collections.capped, collections.open].map((address) => ERC721Collection__factory.connect(address, world.node.provider));
    if (capped === undefined || open === undefined)
        throw new Error("there are no collections");
    const owned = new Map();
    for (const { to } of all)
        owned.set(to, Number((await capped.balanceOf(to)) + (await open.balanceOf(to))));
    const minted = [Number(await capped.totalMinted()), Number(await open.totalMinted())];
    const owners = await withDatabase(world.databaseUrl, ({ read }) => read
        .selectFrom("holdings")
        .select("owner")
        .where("contract", "in", [collections.capped, collections.open])
        .execute());
    const facts = { ...known, statuses, owned, minted, listed: new Set(owners.map(({ owner }) => owner)) };
    return [
        onceEach(facts),
        unknownButListed(facts),
        await capHolds(world, collections.cap, capped),
        await keysAnswer(world, known.inBackup),
        await webhooksArrived(world, known.inBackup),
        await doctorIsContent(world),
    ];
}
async function settled(world, mints) {
    const statuses = new Map();
    const deadline = performance.now() + SETTLE_TIMEOUT;
    for (const { id } of mints) {
        for (;;) {
            const { body } = await world.call("GET", `/v1/requests/${id}`);
            const status = String(body["status"]);
            const error = typeof body["error_code"] === "string" ? body["error_code"] : null;
            statuses.set(id, { status, error });
            if (["completed", "failed"].includes(status) || performance.now() > deadline)
                break;
            await wait(50);
        }
    }
    return statuses;
}
/** The chain has each token once: a completed request made one, a failed one none, unless it ran under a lost number. */
function onceEach({ inBackup, after, statuses, owned, minted }) {
    const wrong = [];
    for (const { id, to } of inBackup) {
        const { status, error } = statuses.get(id) ?? { status: "unknown", error: null };
        const tokens = owned.get(to) ?? 0;
        const expected = status === "completed" || error === "number_taken" ? 1 : 0;
        if (!["completed", "failed"].includes(status) || tokens !== expected)
            wrong.push(`${id} is ${status} (${String(error)}) and has ${tokens.toString()} tokens`);
    }
    wrong.push(...after.filter(({ to }) => (owned.get(to) ?? 0) > 1).map(({ id }) => `${id} ran twice`));
    const tokens = [...owned.values()].reduce((sum, count) => sum + count, 0);
    const all = minted.reduce((sum, count) => sum + count, 0);
    const ran = inBackup.filter(({ id }) => statuses.get(id)?.error === "number_taken").length;
    return {
        promise: "No request runs twice, and every request of the backup becomes final",
        // A call whose answer the caller did not get may have minted for an address that it did not note.
        holds: wrong.length === 0 && all >= tokens,
        detail: wrong.length > 0
            ? wrong.slice(0, 5).join("; ")
            : `${inBackup.length.toString()} requests, ${ran.toString()} of them recognised as carried out after the backup; ` +
                `${all.toString()} tokens on chain`,
    };
}
/** The API does not know the requests that came after the backup. Their tokens are in the lists. */
function unknownButListed({ after, owned, listed }) {
    const onChain = after.filter(({ to }) => owned.get(to) === 1);
    const missing = onChain.filter(({ to }) => !listed.has(to));
    return {
        promise: "Tokens of requests after the backup are on chain and in the database",
        holds: onChain.length > 0 && missing.length === 0,
        detail: `${after.length.toString()} requests are unknown; ${onChain.length.toString()} of them ran, ` +
            `${(onChain.length - missing.length).toString()} of their tokens are listed`,
    };
}
/** The capped collection is filled up. */
async function capHolds(world, cap, capped) {
    const accepted = [];
    for (let call = 0; call <= cap; call++) {
        const to = getAddress(hexlify(randomBytes(20)));
        const body = { collection_address: String(capped.target), to_address: to };
        const { status, body: answer } = await world.call("POST", "/v1/nfts", body);
        if (status !== 200)
            break;
        accepted.push(String(answer["request_id"]));
    }
    const made = accepted.map((id) => ({ id, key: "", body: {}, to: "" }));
    const failed = [...(await settled(world, made)).values()].filter(({ status }) => status !== "completed");
    const minted = Number(await capped.totalMinted());
    return {
        promise: "Supply caps hold",
        holds: minted === cap && failed.length === 0,
        detail: `${accepted.length.toString()} more accepted, then refused; ${minted.toString()} of ${cap.toString()} on chain`,
    };
}
/** A repeated call gets the request of the first one. */
async function keysAnswer(world, mints) {
    let same = 0;
    for (const { id, key, body } of mints) {
        const { body: answer } = await world.call("POST", "/v1/nfts", body, key);
        if (answer["request_id"] === id)
            same += 1;
    }
    return {
        promise: "Idempotency keys of the backup answer as before",
        holds: same === mints.length,
        detail: `${same.toString()} of ${mints.length.toString()} repeated calls got their first request`,
    };
}
/** The restored service delivers the events that waited in the backup, and those that came with the new results. */
async function webhooksArrived(world, mints) {
    const finals = new Map();
    const wanted = new Set(mints.map(({ id }) => id));
    const look = () => {
        for (const { body, headers } of world.receiver.calls) {
            const id = String(body["request_id"]);
            if (!wanted.has(id) || !["completed", "error"].includes(String(body["type"])))
                continue;
            finals.set(id, (finals.get(id) ?? new Set()).add(String(headers["webhook-id"])));
        }
        return finals.size === wanted.size;
    };
    const deadline = performance.now() + SETTLE_TIMEOUT;
    while (!look() && performance.now() < deadline)
        await wait(100);
    const several = [...finals.values()].filter((ids) => ids.size > 1).length;
    return {
        promise: "Webhooks of the backup's requests arrive, each final event under one id",
        holds: finals.size === wanted.size && several === 0,
        detail: `${finals.size.toString()} of ${wanted.size.toString()} final events, ${several.toString()} under several ids`,
    };
}
async function doctorIsContent(world) {
    const { findings } = JSON.parse(await world.cli("doctor", "--media", "--json"));
    const problems = findings.filter(({ result }) => result === "problem");
    return {
        promise: "doctor --media finds no problem",
        holds: problems.length === 0,
        detail: problems.length === 0 ? `${findings.length.toString()} findings` : problems.map(({ words }) => words).join("; "),
    };
}
