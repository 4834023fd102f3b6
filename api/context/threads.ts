import type { Logger } from "pino";

import type { Settings } from "../config/settings.ts";
import { createSignals } from "../shared/signal.ts";
import { WriteTurns } from "../store/db/write-turns.ts";
import { PipelineThread, type PipelineCode } from "./pipeline-thread.ts";
import type { Service } from "./service.ts";

/**
 * Starts HTTP in this thread and the background workers in another. They share the process's signals and take turns at
 * writing; everything else they share through the database, like separate processes.
 * @throws like `startService`
 */
export async function startInThreads(settings: Settings, logger: Logger, code: PipelineCode): Promise<Service> {
  const shared = { signals: createSignals(), turns: new WriteTurns() };
  // Both threads load their code at the same time: loading it takes most of a start.
  const pipeline = new PipelineThread(code, shared);
  try {
    const { startService } = await import("./service.ts");
    const service = await startService({ ...settings, roles: ["api"] }, logger, {
      ...shared,
      others: {
        start: () => pipeline.start(),
        health: () => pipeline.health(),
        measurements: () => pipeline.measurements(),
      },
    });
    let stopped: Promise<void> | null = null;
    const stop = async () => {
      await service.stop();
      await pipeline.stop();
    };
    return { ...service, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await pipeline.stop();
    throw error;
  }
}
