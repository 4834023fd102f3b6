import { randomBytes } from "node:crypto";
import { enqueueEvents } from "../../../api/store/outbox/events.ts";
import { insertRequests } from "../../../api/store/requests/requests.ts";
/** Requests of one transaction, as many as the service puts into one. */
const BATCH = 200;
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
function hex(bytes) {
    return `0x${randomBytes(bytes).toString("hex")}`;
}
/**
 * Queues the events of mints as the service does: for each batch of requests the events `sent`, then the events `completed`.
 * The apps take turns. Each request has two events, so `events` must be even.
 */
export async function queueEvents(database, apps, events) {
    const collection = hex(ADDRESS_BYTES);
    for (let queued = 0; queued < events / 2; queued += BATCH) {
        const subjects = Array.from({ length: Math.min(BATCH, events / 2 - queued) }, (_, index) => mintOf(apps[(queued + index) % apps.length] ?? "", collection, queued + index + 1));
        await database.write(async (trx) => {
            const now = Date.now();
            await insertRequests(trx, subjects.map(({ id, app_id: appId, type, command }) => ({
                ...{ id, appId, type, command, now, collection },
                ...{ unlockable: null, tokenId: null },
                // No relayer may claim them.
                waits: true,
            })));
            for (const type of ["sent", "completed"]) {
                const news = subjects.map((request) => ({ request, type }));
                await enqueueEvents(trx, news, now);
            }
        });
    }
}
function mintOf(appId, collection, tokenId) {
    return {
        id: randomBytes(HASH_BYTES).toString("hex"),
        app_id: appId,
        type: "mint",
        reference: null,
        command: { kind: "mint-erc721", collection, to: hex(ADDRESS_BYTES), metadata: null },
        transaction_hash: hex(HASH_BYTES),
        nft_collection: collection,
        nft_token_id: tokenId.toString(),
    };
}
/** The events that wait for their delivery, in the order in which they were queued. */
export async function waitingLetters({ read }) {
    return read
        .selectFrom("deliveries")
        .innerJoin("events", "events.seq", "deliveries.event_seq")
        .select(["deliveries.app_id as appId", "events.id as id", "events.body as payload"])
        .where("deliveries.status", "=", "pending")
        .orderBy("deliveries.seq")
        .execute();
}
