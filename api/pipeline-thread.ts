import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";

import pino from "pino";

import { crashPointIn } from "./config/crash-point.ts";
import { environment } from "./config/environment.ts";
import { parseSettings, type Settings } from "./config/settings.ts";
import { type Service, startService } from "./context/service.ts";
import { sentenceOf } from "./context/startup-failure.ts";
import { forwardSignals, type FromPipeline, type ToPipeline } from "./context/thread-messages.ts";
import { armCrashPoint } from "./shared/crash-point.ts";
import { createSignals, type Signals } from "./shared/signal.ts";
import { WriteTurns } from "./store/db/write-turns.ts";

/** The thread of the background workers: every role but `api`. `api/main.ts` starts it and says when to begin and to end. */
async function main(): Promise<void> {
  if (parentPort === null) throw new Error("this file is run by api/main.ts, as a thread");
  const main = parentPort;
  const send = (message: FromPipeline) => {
    main.postMessage(message);
  };
  await once(main, "message");
  // The HTTP thread has checked the settings.
  const settings = parseSettings(environment());
  const point = crashPointIn(environment());
  if (point !== null) armCrashPoint(point);
  const signals = createSignals();
  const logger = pino(
    { level: settings.logLevel },
    {
      write: (line: string) => {
        send({ log: line });
      },
    },
  );
  const service = await start(settings, logger, signals).catch((error: unknown) => {
    // As text: not every error can be sent to another thread.
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    send({ failed: { sentence: sentenceOf(error), stack } });
    main.close();
    return null;
  });
  if (service === null) return;
  main.on("message", (message: ToPipeline) => {
    if ("signal" in message) signals[message.signal].raise();
    if ("health" in message) {
      void service.health().then((workers) => {
        send({ health: message.health, workers });
      });
    }
    if ("metrics" in message) {
      void service.measurements().then((measurements) => {
        send({ metrics: message.metrics, measurements });
      });
    }
    if ("stop" in message) {
      void service.stop().then(() => {
        main.close();
      });
    }
  });
  forwardSignals(signals, main);
  send({ started: true });
}

function start(settings: Settings, logger: pino.Logger, signals: Signals): Promise<Service> {
  const turns = new WriteTurns(workerData as SharedArrayBuffer);
  const roles = settings.roles.filter((role) => role !== "api");
  return startService({ ...settings, roles }, logger, { signals, turns });
}

await main();
