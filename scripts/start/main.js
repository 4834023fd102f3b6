import { environment } from "../../api/config/environment.ts";
import { SettingsError } from "../../api/config/settings.ts";
import { explainFileError, fileErrorReason } from "../../api/shared/folder.ts";
import { openChain } from "./open-chain.ts";
import { readOptions } from "./options.ts";
import { messageOf, Problem, StopAsked } from "./problem.ts";
import { reserve } from "./reserve.ts";
/** `npm start`: runs a local chain, the service and a tour of the API, until Ctrl-C. Returns the exit code. */
async function main() {
    const stop = new AbortController();
    // If the terminal or pipe is closed, the chain and the service must still be stopped.
    for (const output of [process.stdout, process.stderr])
        output.on("error", () => undefined);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
        process.on(signal, () => {
            if (!stop.signal.aborted)
                say("\nstopping");
            stop.abort(new StopAsked());
        });
    }
    try {
        await run(readOptions(environment(), process.argv.slice(2)), stop);
        return 0;
    }
    catch (error) {
        // An error after the stop signal is only a consequence of stopping.
        const cause = stop.signal.aborted && !(error instanceof NotSaved) ? stop.signal.reason : error;
        if (cause instanceof StopAsked) {
            say("stopped");
            return 0;
        }
        const plain = cause instanceof Problem || cause instanceof SettingsError;
        const sentence = plain ? cause.message : explainFileError(cause);
        console.error(sentence === null ? cause : `\n${sentence}`);
        return 1;
    }
}
async function run(wanted, stop) {
    const { options, unlock } = await reserve(wanted);
    try {
        say("Starting a local chain and the service ...");
        // Most of the code is loaded while the chain starts in its own process.
        const loading = import("./run-service.ts");
        // If it fails, `await loading` below reports it.
        loading.catch(() => undefined);
        const { chain, continued, tour, keeper } = await openChain({ options, abort: stop.signal, say });
        const saving = new AbortController();
        void chain.died.then(({ text }) => {
            stop.abort(new ChainEnded(`The local chain has ended (${text}). Its log is ${options.dataDir}/chain.log.`));
        });
        const keeping = keeper?.run(saving.signal);
        try {
            const { runService } = await loading;
            await runService(options, { chain, continued, tour }, stop.signal);
        }
        finally {
            saving.abort();
            await keeping;
            try {
                if (keeper !== null && !(stop.signal.reason instanceof ChainEnded))
                    await saveAtTheEnd(keeper);
            }
            finally {
                await chain.stop();
            }
        }
    }
    finally {
        unlock();
    }
}
class ChainEnded extends Problem {
}
/** Thrown when the newest state of the chain is not on disk. */
class NotSaved extends Problem {
}
async function saveAtTheEnd(keeper) {
    try {
        await keeper.finish();
    }
    catch (error) {
        const reason = fileErrorReason(error) ?? messageOf(error);
        throw new NotSaved(`The state of the local chain could not be saved: ${reason}. If blocks came since it was last saved, the next start ` +
            "begins anew, and renames the database.", { cause: error });
    }
}
function say(text) {
    console.log(text);
}
process.exit(await main());
