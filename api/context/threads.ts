import type { Logger } from "pino";

import type { Settings } from "../config/settings.ts";
import { createSignals } from "../shared/signal.ts";
import { WriteTurns } from "../store/db/write-turns.ts";
import { PipelineThread, type PipelineCode } from "./pipeline-thread.ts";
import { type Service, startService } from "./service.ts";

/**
 * Starts HTTP in this thread and the background workers in another. They share the process's signals and take turns at
 * writing; everything else they share through the database, like separate processes.
 * @throws like `startService`
 */
export async function startInThreads(settings: Settings, logger: Logger, code: PipelineCode): Promise<Service> {
  const shared = { signals: createSignals(), turns: new WriteTurns() };
  const pipeline = new PipelineThread(code, shared);
  // The checks of the chain, and on a local chain its preparation, must not run twice at once: the workers start after it.
  const service = await startService({ ...settings, roles: ["api"] }, logger, {
    ...shared,
    others: { health: () => pipeline.health(), measurements: () => pipeline.measurements() },
  });
  try {
    await pipeline.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    await service.stop();
    await pipeline.stop();
  };
  return { ...service, stop: () => (stopped ??= stop()) };
}
