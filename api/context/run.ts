import { inspect } from "node:util";

import pino from "pino";

import { localCommandLine } from "../config/command-line.ts";
import { removedSettings } from "../config/removed-settings.ts";
import { crashPointIn, type Environment, parseSettings, type Settings } from "../config/settings.ts";
import { armCrashPoint } from "../shared/crash-point.ts";
import { requireWritableFolder } from "../shared/folder.ts";
import { releaseMemorySoon } from "../shared/memory.ts";
import { printable } from "../shared/text.ts";
import type { Service } from "./service.ts";

/**
 * Signals within so many milliseconds count as one: Ctrl-C sends SIGINT to npm and to this process, and npm passes its own on.
 */
const SAME_SIGNAL = 1_000;

/** Runs the service until SIGINT or SIGTERM. */
export async function run(env: Environment): Promise<void> {
  const settings = await readSettings(env);
  const lines = byTurn(pino.destination(process.stdout.fd));
  process.once("exit", lines.flush);
  const logger = pino({ level: settings.logLevel }, lines);
  for (const words of removedSettings(env).warnings) logger.warn(words);
  const service = await start(settings, logger).catch((error: unknown) => fail(error));
  void service.outdated.then((error) => {
    logger.fatal({ err: error }, "a newer version has updated the tables of the database: the process stops");
    process.exit(1);
  });
  // A person reads sentences, a supervisor lines of JSON.
  const tell = (fields: object, message: string, sentence: string) => {
    if (process.stdout.isTTY) lines.write(`${sentence}\n`);
    else logger.info(fields, message);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    onSignal(signal, () => {
      tell({ signal }, "stopping", "\nMoneta is stopping.");
      void service.stop().then(() => {
        tell({}, "stopped", "Moneta has stopped.");
      });
    });
  }
  releaseMemorySoon();
  const { port, metricsPort, chainId, contracts } = service;
  const fields = { port, metricsPort, chainId: chainId.toString(), contracts, roles: settings.roles };
  // Logged last: a supervisor that waits for "serving" may stop the process at once.
  tell(fields, "serving", whatRuns(settings, service));
}

/** What runs, and what to do next, for a person at a terminal. */
export function whatRuns(
  settings: Settings,
  {
    port,
    metricsPort,
    chainId,
    local,
  }: { port: number | null; metricsPort: number | null; chainId: bigint; local: boolean },
): string {
  const command = local ? localCommandLine(settings) : "npm run cli --";
  return [
    port === null
      ? `Moneta runs on chain ${chainId.toString()}, with the roles ${settings.roles.join(", ")}.`
      : `Moneta serves ${settings.publicUrl} on chain ${chainId.toString()}.`,
    ...(port === null ? [] : [`For a link to the console: ${command} console`]),
    ...(metricsPort === null ? [] : [`Metrics: http://localhost:${metricsPort.toString()}/metrics`]),
    "Press Ctrl-C to stop.",
  ].join("\n");
}

/** Calls `stop` at the first signal. Another one, later, ends the process at once. */
function onSignal(signal: NodeJS.Signals, stop: () => void): void {
  let last: number | null = null;
  const receive = () => {
    const [before, now] = [last, performance.now()];
    last = now;
    if (before === null) stop();
    if (before === null || now - before < SAME_SIGNAL) return;
    process.off(signal, receive);
    process.kill(process.pid, signal);
  };
  process.on(signal, receive);
}

async function start(settings: Settings, logger: pino.Logger): Promise<Service> {
  // Loading it takes longest: after the settings, because an error in them is then said at once.
  const { startService } = await import("./service.ts");
  return startService(settings, logger);
}

async function readSettings(env: Environment): Promise<Settings> {
  try {
    const crashPoint = crashPointIn(env);
    if (crashPoint !== null) armCrashPoint(crashPoint);
    const settings = parseSettings(env);
    requireWritableFolder(settings.dataDir, "DATA_DIR");
    return settings;
  } catch (error) {
    return await fail(error);
  }
}

/** Errors that the operator can fix are printed as a sentence. Anything else is a bug and keeps its stack trace. */
async function fail(error: unknown): Promise<never> {
  const { sentenceOf } = await import("./startup-error.ts");
  console.error(printable(sentenceOf(error) ?? inspect(error)));
  process.exit(1);
}

interface TextTarget {
  write(text: string): unknown;
}

/**
 * Collects the texts of one turn of the event loop and writes them together: under load, a system call for each log line
 * costs as much as parsing a call. Call `flush` when the process exits.
 */
export function byTurn(target: TextTarget): TextTarget & { flush: () => void } {
  let collected = "";
  function flush(): void {
    const text = collected;
    collected = "";
    // The lines may be shown on a terminal, now or later.
    if (text !== "") target.write(printable(text));
  }
  return {
    write: (text) => {
      if (collected === "") setImmediate(flush);
      collected += text;
    },
    flush,
  };
}
