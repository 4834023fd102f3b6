import type { MessagePort } from "node:worker_threads";

import pino from "pino";

import { crashPointIn, type Environment, parseSettings, type Settings, SettingsError } from "../config/settings.ts";
import { armCrashPoint } from "../shared/crash-point.ts";
import { releaseMemorySoon } from "../shared/memory.ts";
import { createSignals } from "../shared/signal.ts";
import { WriteTurns } from "../store/db/sqlite/write-turns.ts";
import type { ThreadData } from "./loading-thread.ts";
import { type Checked, type Service, startService } from "./service.ts";
import { sentenceOf } from "./startup-error.ts";
import { forwardSignals, type FromPipeline, type ToPipeline } from "./pipeline-thread.ts";

/** Runs the background workers in their thread. @param main the HTTP thread. */
export async function runPipeline(env: Environment, main: MessagePort, data: ThreadData): Promise<void> {
  const send = (message: FromPipeline) => {
    main.postMessage(message);
  };
  const settings = settingsOf(env);
  if (settings === null) return;
  const point = crashPointIn(env);
  if (point !== null) armCrashPoint(point);
  const signals = createSignals();
  const write = (line: string) => {
    send({ log: line });
  };
  const logger = pino({ level: settings.logLevel }, { write });
  const checked = Promise.withResolvers<Checked>();
  // It may be rejected before the service waits for it.
  checked.promise.catch(() => undefined);
  const roles = settings.roles.filter((role) => role !== "api");
  const shared = { signals, turns: new WriteTurns(data.turns), checked: checked.promise };
  const starting = startService({ ...settings, roles }, logger, shared).then(
    (service) => {
      forwardSignals(signals, main);
      send({ started: true });
      releaseMemorySoon();
      return service;
    },
    (error: unknown) => {
      // As text: not every error can be sent to another thread.
      const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
      send({ failed: { sentence: sentenceOf(error), stack } });
      main.close();
      return null;
    },
  );
  const ask = (question: (service: Service) => Promise<void>) => {
    void starting.then((service) => (service === null ? undefined : question(service)));
  };
  main.on("message", (message: ToPipeline) => {
    if ("start" in message) checked.resolve(message.start);
    if ("signal" in message) signals[message.signal].raise();
    if ("ask" in message) {
      ask(async (service) => {
        send({ question: message.question, answer: await service[message.ask]() });
      });
    }
    if ("stop" in message) {
      // The HTTP thread may fail before this thread has begun.
      checked.reject(new Error("the start was given up"));
      ask(async (service) => {
        await service.stop();
        main.close();
      });
    }
  });
  await starting;
}

/** @returns null when they are wrong: the HTTP thread, which reads them at the same time, says so and ends the process. */
function settingsOf(env: Environment): Settings | null {
  try {
    return parseSettings(env);
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}
