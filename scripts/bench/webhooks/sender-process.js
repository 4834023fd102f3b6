import { join } from "node:path";
import { Program } from "../../scene/program.ts";
/** Runs `bare/sender.ts` for one errand. Resolves when everything is delivered. */
export async function sendBare(errand) {
    const sender = new Program([join(import.meta.dirname, "bare", "sender.ts")], { channel: true });
    try {
        await sender.ask(errand);
    }
    finally {
        await sender.end("SIGTERM");
    }
}
