import { inspect } from "node:util";

import pino from "pino";

import { removedSettings } from "../config/removed-settings.ts";
import { crashPointIn, type Environment, parseSettings, type Settings } from "../config/settings.ts";
import { armCrashPoint } from "../shared/crash-point.ts";
import { requireWritableFolder } from "../shared/folder.ts";
import { releaseMemorySoon } from "../shared/memory.ts";
import { printable } from "../shared/text.ts";
import { hasPipelineThread, type LoadingThread } from "./loading-thread.ts";
import { startInThreads } from "./pipeline-thread.ts";
import type { Service } from "./service.ts";

/**
 * Signals within so many milliseconds count as one: Ctrl-C sends SIGINT to npm and to this process, and npm passes its own on.
 */
const SAME_SIGNAL = 1_000;

/**
 * Runs the service until SIGINT or SIGTERM.
 * @param loadWorkers gives the thread of the background workers. It may load its code already.
 */
export async function run(env: Environment, loadWorkers: () => LoadingThread): Promise<void> {
  const settings = await readSettings(env);
  const lines = byTurn(pino.destination(process.stdout.fd));
  process.once("exit", lines.flush);
  const logger = pino({ level: settings.logLevel }, lines);
  for (const words of removedSettings(env).warnings) logger.warn(words);
  const service = await start(settings, { logger, lines, loadWorkers }).catch((error: unknown) => fail(error));
  void service.outdated.then((error) => {
    logger.fatal({ err: error }, "a newer version has updated the tables of the database: the process stops");
    process.exit(1);
  });
  // A person reads sentences, a supervisor lines of JSON.
  const sentences = process.stdout.isTTY ? await import("./what-runs.ts") : null;
  const tell = (fields: object, message: string, sentence: string | undefined) => {
    if (sentence === undefined) logger.info(fields, message);
    else lines.write(`${sentence}\n`);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    onSignal(signal, () => {
      tell({ signal }, "stopping", sentences?.STOPPING);
      void service.stop().then(() => {
        tell({}, "stopped", sentences?.STOPPED);
      });
    });
  }
  releaseMemorySoon();
  // Logged last: a supervisor that waits for "serving" may stop the process at once.
  tell(
    {
      port: service.port,
      metricsPort: service.metricsPort,
      chainId: service.chainId.toString(),
      contracts: service.contracts,
      roles: settings.roles,
    },
    "serving",
    sentences?.whatRuns(settings, service),
  );
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

/** A process with the role `api` and any other uses two threads, so that no background work delays an HTTP answer. */
async function start(
  settings: Settings,
  {
    logger,
    lines,
    loadWorkers,
  }: { logger: pino.Logger; lines: pino.DestinationStream; loadWorkers: () => LoadingThread },
): Promise<Service> {
  const { roles } = settings;
  if (!hasPipelineThread(roles)) {
    const { startService } = await import("./service.ts");
    return startService(settings, logger);
  }
  return startInThreads(settings, logger, {
    thread: loadWorkers(),
    log: (line) => {
      lines.write(line);
    },
    ended: (error) => {
      logger.fatal({ err: error }, "the thread of the background workers ended by an error: the process stops");
      process.exit(1);
    },
  });
}

async function readSettings(env: Environment): Promise<Settings> {
  try {
    const point = crashPointIn(env);
    if (point !== null) armCrashPoint(point);
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
