import { join } from "node:path";
import { styleText } from "node:util";

import pino from "pino";

import { createConsoleLink } from "../../api/commands/console-session.ts";
import { StartupError } from "../../api/context/startup-error.ts";
import { type Service, startService } from "../../api/context/service.ts";
import { SeedFileError } from "../../api/keys/seed-file.ts";
import { keptToken } from "../../api/operate/kept-token.ts";
import type { LocalChain } from "./chain.ts";
import { cliCommandLine, serviceSettings, type StartOptions, writeServiceSettings } from "./options.ts";
import { Problem } from "./problem.ts";
import { runTour } from "./tour/main.ts";

/** What the service runs on. */
interface Ground {
  chain: LocalChain;
  /** Whether the chain and the database are those of the last start. */
  continued: boolean;
  /** Whether the tour may run. */
  tour: boolean;
}

/**
 * Runs the service until it is told to stop. On an empty chain, the tour comes first.
 * @throws Problem when the user can correct it.
 */
export async function runService(options: StartOptions, ground: Ground, stop: AbortSignal): Promise<never> {
  try {
    return await serve(options, ground, stop);
  } catch (error) {
    const plain = [StartupError, SeedFileError].some((kind) => error instanceof kind);
    if (!plain) throw error;
    const hint = ground.continued ? "\nTo begin anew, and rename the database: npm start -- --fresh" : "";
    throw new Problem((error as Error).message + hint, { cause: error });
  }
}

async function serve(options: StartOptions, ground: Ground, stop: AbortSignal): Promise<never> {
  const { chain, tour } = ground;
  const settings = serviceSettings(options, chain.rpcUrl);
  const logFile = join(options.dataDir, "service.log");
  const logger = pino({ level: settings.logLevel }, pino.destination({ dest: logFile, append: true, sync: true }));
  const service = await whileItRuns(chain, startService(settings, logger));
  try {
    stop.throwIfAborted();
    const token = await keptToken(service.database, {
      dataDir: options.dataDir,
      app: "local",
      name: "npm start",
      quotas: settings.appQuotas,
    });
    await writeServiceSettings(options, chain.rpcUrl);
    sayWhatRuns(options, ground, service);
    if (options.tour && tour)
      await runTour({
        baseUrl: settings.publicUrl,
        token,
        rpcUrl: chain.rpcUrl,
        verbose: options.verbose,
        signal: stop,
      });
    const { url } = await createConsoleLink(
      { database: service.database, publicUrl: settings.publicUrl },
      { appId: null, scopes: null },
    );
    sayReady(options, { baseUrl: settings.publicUrl, token, consoleLink: url });
    return await untilAborted(stop);
  } finally {
    await service.stop();
  }
}

/** Fails when the chain ends: the service would wait for it for ever. */
async function whileItRuns(chain: LocalChain, starting: Promise<Service>): Promise<Service> {
  const died = chain.died.then(({ text }) => {
    throw new Problem(`The local chain has ended (${text}).`);
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

function sayWhatRuns({ dataDir, tour }: StartOptions, { chain, continued }: Ground, service: Service): void {
  if (!continued) {
    say(`Started a local chain (chain id ${service.chainId}) at ${chain.rpcUrl}, and deployed the contracts.`);
  } else {
    say(`The local chain (chain id ${service.chainId}) at ${chain.rpcUrl} goes on with the data of the last start,`);
    say(`${tour ? "without the tour" : "also the token"}. To begin anew: npm start -- --fresh`);
  }
  say(`All data and the logs are in ${dataDir}.`);
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

${line("docs:", `${baseUrl}/docs`)}
${line("metrics:", `http://localhost:${options.metricsPort}/metrics`)}
${line("CLI:", cliCommandLine(options, "app list"))}
${line("console:", `${cliCommandLine(options, "console")} (prints another link)`)}
base URL: ${baseUrl}
token: ${token}

Make your first call from a second terminal:
  export MONETA_URL=${baseUrl}
  export MONETA_TOKEN=${styleText("dim", "<the token above>")}
  curl -H "Authorization: Bearer $MONETA_TOKEN" $MONETA_URL/v1/collections
README.md goes on from here: "The main job, with curl".

${styleText("bold", "Open the console in your browser")} (the link works once, within ten minutes):
  ${styleText(["bold", "cyan"], consoleLink)}`);
}

function say(text: string): void {
  console.log(text);
}
