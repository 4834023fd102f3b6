import { openBlocks } from "../../../api/content/store/open-blocks.ts";
import { parseMediaStoreText } from "../../../api/config/settings.ts";
import { parseCid } from "../../../api/content/cids.ts";
import { findFile } from "../../../api/content/content.ts";
import { copyMedia } from "../../../api/content/copy/copy-media.ts";
import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { answerOrders } from "./child.ts";
const DEADLINE = 600_000;
const [folder = "", databaseUrl = "", largest = ""] = process.argv.slice(2);
const database = await openDatabase(databaseUrl);
const setting = parseMediaStoreText(process.env, process.env["MEDIA_STORE"] ?? "files");
const { blocks, close } = openBlocks(setting, { dataDir: folder, database });
const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });
const deps = { blocks, agent, gateway: null, maxBytes: Number(largest), deadline: DEADLINE };
answerOrders(async (order) => {
    if ("peak" in order)
        return Math.round(process.resourceUsage().maxRSS / 1024);
    const started = performance.now();
    const cids = "copy" in order ? await copyAll(order.copy) : await readAll(order.read, order.bytes);
    return { seconds: (performance.now() - started) / 1000, cids };
}, async () => {
    await agent.destroy();
    await close();
    await database.close();
});
async function copyAll(urls) {
    const copied = await Promise.all(urls.map((url) => copyMedia(deps, { url, use: "any" }, new AbortController().signal)));
    return copied.map(({ cid }) => cid);
}
async function readAll(cid, bytes) {
    const root = parseCid(cid);
    const file = root === null ? null : await findFile(blocks, root, "");
    let read = 0;
    for await (const part of file?.read() ?? [])
        read += part.length;
    if (read !== bytes)
        throw new Error(`read ${read.toString()} bytes of ${bytes.toString()}`);
    return [cid];
}
