import pino from "pino";

import { crashPointIn } from "./config/crash-point.ts";
import { environment } from "./config/environment.ts";
import { parseSettings, type Settings } from "./config/settings.ts";
import { type Service, startService } from "./context/service.ts";
import { sentenceOf } from "./context/startup-failure.ts";
import { startInThreads } from "./context/threads.ts";
import { byTurn } from "./shared/by-turn.ts";
import { armCrashPoint } from "./shared/crash-point.ts";
import { requireWritableFolder } from "./shared/folder.ts";

/** `npm run api`: runs the service against the chain at RPC_URL until SIGINT or SIGTERM. */
async function main(): Promise<void> {
  const settings = readSettings();
  const lines = byTurn(pino.destination(process.stdout.fd));
  process.once("exit", lines.flush);
  const logger = pino({ level: settings.logLevel }, lines);
  const service = await start(settings, logger, lines).catch((error: unknown) => fail(error));
  void service.outdated.then((error) => {
    logger.fatal({ err: error }, "a newer version has updated the tables of the database: the process stops");
    process.exit(1);
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      logger.info({ signal }, "stopping");
      void service.stop().then(() => {
        logger.info("stopped");
      });
    });
  }
  // Logged last: a supervisor that waits for "serving" may stop the process at once.
  logger.info(
    {
      port: service.port,
      metricsPort: service.metricsPort,
      chainId: service.chainId.toString(),
      contracts: service.contracts,
      roles: settings.roles,
    },
    "serving",
  );
}

/** A process with the role `api` and any other uses two threads, so that no background work delays an HTTP answer. */
function start(settings: Settings, logger: pino.Logger, lines: pino.DestinationStream): Promise<Service> {
  const { roles } = settings;
  if (!roles.includes("api") || roles.length === 1) return startService(settings, logger);
  return startInThreads(settings, logger, {
    entry: new URL("./pipeline-thread.ts", import.meta.url),
    log: (line) => {
      lines.write(line);
    },
    ended: (error) => {
      logger.fatal({ err: error }, "the thread of the background workers ended by an error: the process stops");
      process.exit(1);
    },
  });
}

function readSettings(): Settings {
  try {
    const point = crashPointIn(environment());
    if (point !== null) armCrashPoint(point);
    const settings = parseSettings(environment());
    requireWritableFolder(settings.dataDir, "DATA_DIR");
    return settings;
  } catch (error) {
    return fail(error);
  }
}

/** Errors that the operator can fix are printed as a sentence. Anything else is a bug and keeps its stack trace. */
function fail(error: unknown): never {
  console.error(sentenceOf(error) ?? error);
  process.exit(1);
}

await main();
