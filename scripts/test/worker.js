import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Mocha from "mocha";
import { z } from "zod";
import { endRun } from "../scene/end-of-run.ts";
// A worker of `npm test`: runs one test file after the other in the same process, so that they share the modules, a node, a
// service and a database server. Its parent says which file is next.
const { timeout } = z.object({ timeout: z.number() }).parse(JSON.parse(readFileSync(".mocharc.json", "utf8")));
function send(message) {
    process.send?.(message);
}
async function runFile(file) {
    const mocha = new Mocha({ forbidOnly: true, timeout, reporter: join(import.meta.dirname, "reporter.cjs") });
    mocha.addFile(resolve(file));
    await mocha.loadFilesAsync();
    await new Promise((done) => mocha.run(done));
    // Otherwise it would still listen to the process, and take the next file's errors for its own.
    mocha.dispose();
}
/** A file that cannot be loaded has no tests that could fail. */
function loadFailure(file, error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const failures = [{ title: "the file cannot be loaded", text }];
    return { file: { path: file, seconds: 0, passed: 0, failed: 1, skipped: 0, failures } };
}
// As Mocha's own command line: Mocha hears of the exception, and the running test fails.
process.on("unhandledRejection", (reason) => {
    throw reason;
});
process.on("message", (order) => {
    void (async () => {
        if ("run" in order) {
            await runFile(order.run).catch((error) => {
                send(loadFailure(order.run, error));
            });
            send({ idle: true });
            return;
        }
        await endRun();
        // A handle that a test left open must not keep this process running.
        process.exit(0);
    })();
});
// Nobody would read the results.
process.once("disconnect", () => process.exit(1));
send({ idle: true });
