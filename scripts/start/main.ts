import { join } from "node:path";

import { environment } from "../../api/config/environment.ts";
import { SettingsError } from "../../api/config/settings.ts";
import { startChain } from "./chain.ts";
import { explainFileError } from "../../api/shared/folder.ts";
import { setDatabaseAside } from "./data-folder.ts";
import { readOptions, type StartOptions } from "./options.ts";
import { Problem, StopAsked } from "./problem.ts";
import { reserve } from "./reserve.ts";

/** `npm start`: runs a local chain, the service and a tour of the API, until Ctrl-C. Returns the exit code. */
async function main(): Promise<number> {
  const stop = new AbortController();
  // If the terminal or pipe is closed, the chain and the service must still be stopped.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (!stop.signal.aborted) say("\nstopping");
      stop.abort(new StopAsked());
    });
  }
  try {
    await run(readOptions(environment()), stop);
    return 0;
  } catch (error) {
    // An error after the stop signal is only a consequence of stopping.
    const cause: unknown = stop.signal.aborted ? stop.signal.reason : error;
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

async function run(wanted: StartOptions, stop: AbortController): Promise<void> {
  const { options, unlock } = await reserve(wanted);
  try {
    const aside = setDatabaseAside(options.dataDir, new Date());
    if (aside !== null)
      say(`The local chain starts empty, so the database does too. The old one was renamed: ${aside}`);
    say("Starting a local chain and the service ...");
    // Most of the code is loaded while the chain starts in its own process.
    const loading = import("./run-service.ts");
    // If it fails, `await loading` below reports it.
    loading.catch(() => undefined);
    const chain = await startChain(options.rpcPort, join(options.dataDir, "chain.log"), stop.signal);
    void chain.died.then((how) => {
      stop.abort(new Problem(`The local chain has ended (${how}). Its log is ${options.dataDir}/chain.log.`));
    });
    try {
      const { runService } = await loading;
      await runService(options, chain, stop.signal);
    } finally {
      await chain.stop();
    }
  } finally {
    unlock();
  }
}

function say(text: string): void {
  console.log(text);
}

process.exit(await main());
