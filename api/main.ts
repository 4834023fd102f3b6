import pino from "pino";

import { crashPointIn } from "./config/crash-point.ts";
import { environment } from "./config/environment.ts";
import { parseSettings, type Settings, SettingsError } from "./config/settings.ts";
import { StartupError } from "./context/chain-identity.ts";
import { startService } from "./context/service.ts";
import { SeedFileError } from "./keys/seed-file.ts";
import { ChainUnavailable } from "./chain/errors.ts";
import { byTurn } from "./shared/by-turn.ts";
import { armCrashPoint } from "./shared/crash-point.ts";
import { explainFileError, FolderError, requireWritableFolder } from "./shared/folder.ts";
import { DatabaseError } from "./store/db/database-error.ts";

/** `npm run api`: runs the service against the chain at RPC_URL until SIGINT or SIGTERM. */
async function main(): Promise<void> {
  const settings = readSettings();
  const lines = byTurn(pino.destination(process.stdout.fd));
  process.once("exit", lines.flush);
  const logger = pino({ level: settings.logLevel }, lines);
  const service = await startService(settings, logger).catch((error: unknown) => fail(error));
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
    { port: service.port, chainId: service.chainId.toString(), contracts: service.contracts, roles: settings.roles },
    "serving",
  );
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

function sentenceOf(error: unknown): string | null {
  if (error instanceof ChainUnavailable) {
    return (
      `The chain node at RPC_URL does not answer (${error.message}). Start it, or set RPC_URL to another node. ` +
      "For a local chain, run `npx hardhat node --hostname 127.0.0.1` in another terminal."
    );
  }
  if (isListenError(error)) return `The API cannot listen: ${error.message}. Set PORT or HOST to a free address.`;
  const expected = [SettingsError, StartupError, SeedFileError, DatabaseError, FolderError];
  if (error instanceof Error && expected.some((kind) => error instanceof kind)) return error.message;
  return explainFileError(error);
}

function isListenError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && error.syscall === "listen";
}

await main();
