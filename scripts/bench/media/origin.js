import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { listenOnLoopback } from "../../scene/loopback.ts";
import { answerOrders } from "./child.ts";
import { bytesOf } from "./content.ts";
/** The server that media are copied from. Argument: how many bytes each file has. */
const size = Number(process.argv[2]);
const server = createServer((request, response) => {
    response.setHeader("content-length", size.toString());
    // A copy that is cut off is an error of the process that makes it.
    pipeline(Readable.from(bytesOf(request.url ?? "", size), { objectMode: true }), response).catch(() => undefined);
});
const { port, stop } = await listenOnLoopback(server);
answerOrders(() => Promise.resolve(port), stop);
