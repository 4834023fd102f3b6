import { join } from "node:path";
import { MeasuredProgram } from "../../harness/measured-service.ts";
/** Runs `server.ts` as a separate process, with the same instruments inside as the service. */
export async function startBareServer({ database, file }) {
    const server = new MeasuredProgram([join(import.meta.dirname, "server.ts"), database, file]);
    const port = await server.message();
    return {
        url: `http://127.0.0.1:${port.toString()}`,
        instruments: server.instruments,
        stop: async () => {
            await server.end("SIGTERM");
        },
    };
}
