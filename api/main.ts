import pino from "pino";

import { crashPointIn } from "./config/crash-point.ts";
import { environment } from "./config/environment.ts";
import { parseSettings, type Settings, SettingsError } from "./config/settings.ts";
import { StartupError } from "./context/chain-identity.ts";
import { startService } from "./context/service.ts";
import { SeedFileError } from "./keys/seed-file.ts";
import { ChainUnavailable } from "./chain/errors.ts";
import { armCrashPoint } from "./shared/crash-point.ts";
import { SchemaError } from "./store/db/migrate.ts";

/** `npm run api`: the service against the chain at RPC_URL, until it is told to stop. */
async function main(): Promise<void> {
  const settings = readSettings();
  const logger = pino({ level: settings.logLevel });
  const service = await startService(settings, logger).catch((error: unknown) => fail(error));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      logger.info({ signal }, "stopping");
      void service.stop().then(() => {
        logger.info("stopped");
      });
    });
  }
  // Whoever waits for these words may end the process at once.
  logger.info(
    { port: service.port, chainId: service.chainId.toString(), contracts: service.contracts, roles: settings.roles },
    "serving",
  );
}

function readSettings(): Settings {
  try {
    const point = crashPointIn(environment());
    if (point !== null) armCrashPoint(point);
    return parseSettings(environment());
  } catch (error) {
    return fail(error);
  }
}

/** What a person can mend is said in plain words; anything else keeps its stack. */
function fail(error: unknown): never {
  const plain = [SettingsError, StartupError, SeedFileError, SchemaError].some((kind) => error instanceof kind);
  if (error instanceof ChainUnavailable) {
    console.error(`The chain node at RPC_URL does not answer (${error.message}). Start it, or set RPC_URL.`);
  } else if (isListenError(error)) {
    console.error(`The API cannot listen: ${error.message}. Set PORT or HOST to something free.`);
  } else {
    console.error(plain ? (error as Error).message : error);
  }
  process.exit(1);
}

function isListenError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && error.syscall === "listen";
}

await main();
