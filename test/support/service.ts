import { type Logger, pino } from "pino";

import { createApp } from "../../api/operate/apps.ts";
import type { Limits } from "../../api/config/limits.ts";
import { parseSettings } from "../../api/config/settings.ts";
import { type Service, startService } from "../../api/context/service.ts";
import { FOR_TESTS } from "./process.ts";
import { openDatabase } from "../../api/store/db/database.ts";

/** The whole service in this process, against a real node and a real database file. */
export async function startTestService(options: {
  rpcUrl: string;
  dataDir: string;
  env?: Record<string, string>;
  logger?: Logger;
  limits?: Partial<Limits>;
}): Promise<Service & { baseUrl: string }> {
  const parsed = parseSettings({
    PORT: "0",
    // The service looks at the chain when it has sent something. On a chain that mines at once that is enough, and an idle
    // service then takes less of the processor than the tests beside it.
    BLOCK_POLL_SECONDS: "1",
    RPC_URL: options.rpcUrl,
    DATA_DIR: options.dataDir,
    ...FOR_TESTS,
    ...options.env,
  });
  const settings = { ...parsed, limits: { ...parsed.limits, ...options.limits } };
  const service = await startService(settings, options.logger ?? pino({ level: process.env["TEST_LOG"] ?? "silent" }));
  return { ...service, baseUrl: `http://127.0.0.1:${String(service.port)}` };
}

/** Adds an app to a database file, as the command line does. A service may use the file at the same time. */
export async function createAppIn(databaseUrl: string, name: string): Promise<{ appId: string; token: string }> {
  const database = await openDatabase(databaseUrl);
  try {
    return await createApp({ database }, name);
  } finally {
    await database.close();
  }
}
