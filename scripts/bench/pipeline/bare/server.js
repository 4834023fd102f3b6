import { fileURLToPath } from "node:url";
import express from "express";
import { z } from "zod";
import { openPostgres, openSqlite } from "./store.ts";
/**
 * Measures Express and the database alone on this machine, as a baseline: one endpoint validates and stores a mint (group
 * commit, as durable as the service), and one answers a prepared query. It runs as a separate process, like the
 * service. Arguments: the URL of the service's database, and the SQLite file to write.
 */
const [database = "", file = ""] = process.argv.slice(2);
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const body = z.strictObject({ collection_address: address, to_address: address });
function open() {
    if (!database.startsWith("file:"))
        return openPostgres(database);
    return openSqlite(database.startsWith("file://") ? fileURLToPath(database) : database.slice("file:".length), file);
}
const stored = await open();
let waiting = [];
function store(id, command) {
    return new Promise((done, failed) => {
        waiting.push({ id, command, done, failed });
        if (waiting.length === 1)
            setImmediate(() => void commit());
    });
}
async function commit() {
    const group = waiting;
    waiting = [];
    try {
        await stored.insert(group);
        for (const member of group)
            member.done();
    }
    catch (error) {
        for (const member of group)
            member.failed(error);
    }
}
const app = express();
// The service hashes no answer either.
app.disable("etag");
app.use(express.json());
app.post("/mints", async (request, response) => {
    const fields = body.parse(request.body);
    const id = crypto.randomUUID();
    await store(id, JSON.stringify(fields));
    response.json({ request_id: id });
});
app.get("/contents/:owner", async (request, response) => {
    response.json({ nfts: await stored.contents(request.params.owner) });
});
app.get("/wallets/:app/:user", async (request, response) => {
    const wallet = await stored.wallet(request.params.app, request.params.user);
    if (wallet === undefined)
        response.status(404);
    response.json(wallet ?? {});
});
const server = app.listen(0, "127.0.0.1", () => {
    process.send?.(server.address().port);
});
process.on("disconnect", () => process.exit());
