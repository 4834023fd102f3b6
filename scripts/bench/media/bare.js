import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { request } from "undici";
import { listenOnLoopback } from "../../scene/loopback.ts";
import { answerOrders } from "./child.ts";
import { MIB } from "./content.ts";
const folder = process.argv[2] ?? "";
let uploads = 0;
const server = createServer((incoming, response) => {
    const file = join(folder, `bare-upload-${(uploads++).toString()}`);
    store(incoming, file)
        .then(async (bytes) => {
        response.end(JSON.stringify({ bytes }));
        await rm(file);
    })
        .catch((error) => {
        response.statusCode = 500;
        response.end(String(error));
    });
});
const { port, stop } = await listenOnLoopback(server);
answerOrders(async (order) => {
    if ("port" in order)
        return port;
    const started = performance.now();
    if ("copy" in order)
        await Promise.all(order.copy.map((url, index) => copy(url, fileAt(index))));
    else if ("read" in order)
        await readFirst();
    else
        for (let index = 0; index < order.remove; index++)
            await rm(fileAt(index));
    return { seconds: (performance.now() - started) / 1000 };
}, stop);
function fileAt(index) {
    return join(folder, `bare-${index.toString()}`);
}
async function copy(url, file) {
    const { body } = await request(url);
    await store(body, file);
}
/** @returns how many bytes were stored. */
async function store(bytes, file) {
    const handle = await open(file, "w");
    try {
        const hashes = [];
        let [hash, inBlock, stored] = [createHash("sha256"), 0, 0];
        for await (const chunk of bytes) {
            for (let start = 0; start < chunk.length;) {
                const part = chunk.subarray(start, start + MIB - inBlock);
                hash.update(part);
                start += part.length;
                inBlock += part.length;
                if (inBlock < MIB)
                    continue;
                hashes.push(hash.digest());
                [hash, inBlock] = [createHash("sha256"), 0];
            }
            await handle.writeFile(chunk);
            stored += chunk.length;
        }
        createHash("sha256").update(Buffer.concat(hashes)).digest();
        await handle.sync();
        return stored;
    }
    finally {
        await handle.close();
    }
}
async function readFirst() {
    let read = 0;
    for await (const chunk of createReadStream(fileAt(0), { highWaterMark: MIB })) {
        read += chunk.length;
    }
    if (read === 0)
        throw new Error("the file is empty");
}
