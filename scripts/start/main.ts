import { join } from "node:path";
import { styleText } from "node:util";

import pino from "pino";

import { createApp } from "../../api/operator/create-app.ts";
import { createConsoleLink } from "../../api/commands/console-session.ts";
import { environment } from "../../api/config/environment.ts";
import { SettingsError } from "../../api/config/settings.ts";
import { StartupError } from "../../api/context/chain-identity.ts";
import { type Service, startService } from "../../api/context/service.ts";
import { SeedFileError } from "../../api/keys/seed-file.ts";
import { type LocalChain, startChain } from "./chain.ts";
import { explainFileError } from "../../api/shared/folder.ts";
import { setDatabaseAside } from "./data-folder.ts";
import { cliCommandLine, readOptions, serviceSettings, type StartOptions } from "./options.ts";
import { Problem, StopAsked } from "./problem.ts";
import { reserve } from "./reserve.ts";
import { TourError } from "./tour/check.ts";
import { runTour } from "./tour/main.ts";

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
    const plain = [Problem, SettingsError, StartupError, SeedFileError, TourError].some(
      (kind) => cause instanceof kind,
    );
    const sentence = plain ? (cause as Error).message : explainFileError(cause);
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
    const chain = await startChain(options.rpcPort, join(options.dataDir, "chain.log"), stop.signal);
    void chain.died.then((how) => {
      stop.abort(new Problem(`The local chain has ended (${how}). Its log is ${options.dataDir}/chain.log.`));
    });
    try {
      await runService(options, chain, stop.signal);
    } finally {
      await chain.stop();
    }
  } finally {
    unlock();
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
    sayWhatRuns(options, chain, service);
    if (options.tour) await runTour({ baseUrl: settings.publicUrl, token, rpcUrl: chain.rpcUrl, signal: stop });
    const { url } = await createConsoleLink(
      { database: service.database, publicUrl: settings.publicUrl },
      { appId: null, scopes: null },
    );
    sayReady(options, { baseUrl: settings.publicUrl, token, consoleLink: url });
    await untilAborted(stop);
  } finally {
    await service.stop();
  }
}

/** Fails when the chain ends: the service would wait for it for ever. */
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

function sayWhatRuns(options: StartOptions, chain: LocalChain, service: Service): void {
  say(`Started a local chain (chain id ${service.chainId}) at ${chain.rpcUrl}, and deployed the contracts.`);
  say(`The database and the logs are in ${options.dataDir}.`);
}

interface Ready {
  baseUrl: string;
  token: string;
  /** Works once, within ten minutes. */
  consoleLink: string;
}

function sayReady(options: StartOptions, { baseUrl, token, consoleLink }: Ready): void {
  const line = (label: string, value: string) => `${styleText("dim", label.padEnd(9))} ${value}`;
  say(`
${styleText(["bold", "green"], "Moneta is ready.")}
serving until you press Ctrl-C

${line("docs:", styleText("cyan", `${baseUrl}/docs`))}
${line("metrics:", `http://localhost:${options.metricsPort}/metrics`)}
${line("CLI:", cliCommandLine(options, "app list"))}
base URL: ${baseUrl}
token: ${token}

Make your first call from a second terminal:
  export TOKEN=${styleText("dim", "<the token above>")}
  curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/collections
README.md goes on from here: "The main job, with curl".

Open the console in your browser (the link works once, within ten minutes):
  ${styleText("cyan", consoleLink)}
Another link: ${cliCommandLine(options, "console")}`);
}

function say(text: string): void {
  console.log(text);
}

process.exit(await main());
