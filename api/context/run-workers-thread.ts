import type { MessagePort } from "node:worker_threads";

import pino from "pino";

import { ROLES } from "../config/variables.ts";
import { armCrashPoint } from "../shared/crash-point.ts";
import { releaseMemorySoon } from "../shared/memory.ts";
import { createSignals } from "../shared/signal.ts";
import { WriteTurns } from "../store/db/sqlite/write-turns.ts";
import type { ThreadData } from "./loading-thread.ts";
import { type Service, startService } from "./service.ts";
import { sentenceOf } from "./startup-error.ts";
import { forwardSignals, type FromWorkers, type ToWorkers } from "./workers-thread.ts";
import { loadRoles } from "./workers.ts";

/** Runs the background workers in their thread, as the HTTP thread says. @param main the HTTP thread. */
export function runWorkersThread(main: MessagePort, { turns, roles }: ThreadData): void {
  // The start waits for it, and reports a failure.
  loadRoles((roles ?? ROLES).filter((role) => role !== "api")).catch(() => undefined);
  const signals = createSignals();
  forwardSignals(signals, main);
  const send = (message: FromWorkers) => {
    main.postMessage(message);
  };
  const start = async ({ settings, checked, crashPoint }: Extract<ToWorkers, { start: unknown }>["start"]) => {
    if (crashPoint !== null) armCrashPoint(crashPoint);
    const write = (line: string) => {
      send({ log: line });
    };
    try {
      const logger = pino({ level: settings.logLevel }, { write });
      const thread = { name: "workers", signals, turns: new WriteTurns(turns), checked } as const;
      const service = await startService(settings, logger, thread);
      send({ started: true });
      releaseMemorySoon();
      return service;
    } catch (error) {
      // As text: not every error can be sent to another thread.
      const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
      send({ failed: { sentence: sentenceOf(error), stack } });
      return null;
    }
  };
  let starting: Promise<Service | null> = Promise.resolve(null);
  main.on("message", (message: ToWorkers) => {
    if ("start" in message) starting = start(message.start);
    if ("signal" in message) signals[message.signal].raise();
    if ("ask" in message)
      void starting.then(async (service) => {
        if (service !== null) send({ answers: message.ask, report: await service.report() });
      });
    if ("stop" in message)
      void starting.then(async (service) => {
        await service?.stop();
        main.close();
      });
  });
}
