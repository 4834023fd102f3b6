import { join } from "node:path";

import pino from "pino";

import { createApp } from "../../api/operator/create-app.ts";
import { environment } from "../../api/config/environment.ts";
import { SettingsError } from "../../api/config/settings.ts";
import { StartupError } from "../../api/context/chain-identity.ts";
import { type Service, startService } from "../../api/context/service.ts";
import { SeedFileError } from "../../api/keys/seed-file.ts";
import { type LocalChain, startChain } from "./chain.ts";
import { lockFolder, setDatabaseAside } from "./data-folder.ts";
import { readOptions, serviceSettings, type StartOptions } from "./options.ts";
import { freePort } from "./ports.ts";
import { Problem, StopAsked } from "./problem.ts";
import { TourError } from "./tour/check.ts";
import { runTour } from "./tour/main.ts";

/** `npm start`: a local chain, the service and a tour of the main job, until it is told to stop. Returns the exit code. */
async function main(): Promise<number> {
  const stop = new AbortController();
  // A terminal or a pipe that is gone is no reason to leave without stopping what runs.
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
    // What is thrown after everything was told to stop is a consequence of that.
    const cause: unknown = stop.signal.aborted ? stop.signal.reason : error;
    if (cause instanceof StopAsked) {
      say("stopped");
      return 0;
    }
    const plain = [Problem, SettingsError, StartupError, SeedFileError, TourError].some(
      (kind) => cause instanceof kind,
    );
    console.error(plain ? `\n${(cause as Error).message}` : cause);
    return 1;
  }
}

async function run(wanted: StartOptions, stop: AbortController): Promise<void> {
  const options = {
    ...wanted,
    port: await freePort("PORT", wanted.port),
    rpcPort: await freePort("RPC_PORT", wanted.rpcPort),
  };
  const unlockFolder = lockFolder(options.dataDir);
  try {
    const aside = setDatabaseAside(options.dataDir, new Date());
    if (aside !== null) say(`The chain starts anew, so its database does too. The old one is set aside: ${aside}`);
    const chain = await startChain(options.rpcPort, join(options.dataDir, "chain.log"), stop.signal);
    void chain.died.then((how) => {
      stop.abort(new Problem(`The local chain has ended (${how}). What it said is in ${options.dataDir}/chain.log`));
    });
    try {
      await runService(options, chain, stop.signal);
    } finally {
      await chain.stop();
    }
  } finally {
    unlockFolder();
  }
}

async function runService(options: StartOptions, chain: LocalChain, stop: AbortSignal): Promise<void> {
  const settings = serviceSettings(options, chain.rpcUrl);
  const logFile = join(options.dataDir, "service.log");
  const logger = pino({ level: settings.logLevel }, pino.destination({ dest: logFile, append: true, sync: true }));
  const service = await whileItRuns(chain, startService(settings, logger));
  try {
    stop.throwIfAborted();
    const { token } = await createApp({ database: service.database }, "local");
    sayWhatRuns(options, chain, service, settings.publicUrl);
    say(`base URL: ${settings.publicUrl}`);
    say(`token: ${token}`);
    if (options.tour) await runTour({ baseUrl: settings.publicUrl, token, rpcUrl: chain.rpcUrl, signal: stop });
    sayWhatNext(settings.publicUrl, token);
    await untilAborted(stop);
  } finally {
    await service.stop();
  }
}

/** Without its node the service would wait for it for ever. */
async function whileItRuns(chain: LocalChain, starting: Promise<Service>): Promise<Service> {
  const died = chain.died.then((how) => {
    throw new Problem(`The local chain has ended (${how}).`);
  });
  return Promise.race([starting, died]);
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

function sayWhatRuns(options: StartOptions, chain: LocalChain, service: Service, baseUrl: string): void {
  say(`Moneta runs at ${baseUrl}, on a local chain (id ${service.chainId}) at ${chain.rpcUrl}.`);
  say(`Database and logs are in ${options.dataDir}.`);
}

function sayWhatNext(baseUrl: string, token: string): void {
  say(`
serving at ${baseUrl}, until Ctrl-C
token: ${token}
Try next:
  curl -H 'Authorization: Bearer ${token}' ${baseUrl}/v1/collections
or the walk through the API in README.md.`);
}

function say(text: string): void {
  console.log(text);
}

process.exit(await main());
