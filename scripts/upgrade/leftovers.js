import { randomUUID } from "node:crypto";
import { announceObject, beginCollection, indexedBlocks, quarantineBlocks } from "../../api/store/media/blocks.ts";
import { SETTINGS } from "./world.ts";
/** Leaves deliveries to be sent, sent again and ended, and calls that two API processes have counted together. */
export async function leaveDeliveries(world, { shop, closing }) {
    await world.start("api");
    await world.start("api");
    await world.call(shop, "POST", "/v1/webhook/test");
    // Two processes add up their counts once a considerable part of the limit is used.
    await world.until("the calls are added up", async () => {
        await world.call(shop, "GET", "/v1/webhook");
        return (await world.count("rate_counts")) > 0;
    });
    await world.call(closing, "DELETE", "/v1/webhook");
    await world.killAll();
    await (await world.start("webhooks", { CRASH_POINT: "webhooks:taken" })).gone();
    // As after the removal of a webhook with exactly 1,000 waiting deliveries: the first 1,000 are ended, the rest is to come.
    await world.database.write(async (trx) => {
        const { seq } = await trx
            .selectFrom("deliveries")
            .select("seq")
            .where("app_id", "=", closing.id)
            .orderBy("seq", "desc")
            .limit(1)
            .executeTakeFirstOrThrow();
        const row = { app_id: closing.id, up_to_seq: seq, reason: "the webhook was removed" };
        await trx.insertInto("abandoned_deliveries").values(row).execute();
    });
}
/** An upload that was never recorded, and a garbage collection that has removed nothing yet. */
export async function leaveMediaWork({ database }) {
    const store = SETTINGS.MEDIA_STORE;
    const id = randomUUID();
    await database.write(async (trx) => {
        await announceObject(trx, store, "upload-of-a-dead-process", Date.now());
        await beginCollection(trx, store, id);
    });
    for await (const { cid } of indexedBlocks(database.read, store)) {
        await database.write((trx) => quarantineBlocks(trx, { store, id }, [cid], Date.now() + 1));
        return;
    }
    throw new Error("no block is stored");
}
