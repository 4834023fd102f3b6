import type { AddressInfo } from "node:net";

import type { Logger } from "pino";

import type { Settings } from "../config/settings.ts";
import { createApp } from "../v1/app.ts";
import type { AppDeps } from "../v1/deps.ts";
import { createHttpServer, listen, stopHttpServer } from "../v1/server.ts";

/** Milliseconds that requests get to finish when the service stops. */
const STOP_DEADLINE = 10_000;
/** Milliseconds between two warnings that connections are refused. */
const WARN_EVERY = 60_000;

/**
 * Starts the HTTP API.
 * @param opened takes over the server, to be closed.
 * @returns the port that it listens at.
 */
export async function startHttp(
  deps: AppDeps,
  settings: Pick<Settings, "port" | "host" | "limits">,
  opened: AsyncDisposableStack,
): Promise<number> {
  const app = createApp(deps);
  const isTrusted = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  const connections = {
    limits: settings.limits,
    isProxy: (address: string) => isTrusted(address, 0),
    refused: warnOfRefused(deps.logger),
  };
  const server = await listen(createHttpServer(app, {}, connections), settings);
  opened.defer(async () => {
    deps.streams.end();
    await stopHttpServer(server, STOP_DEADLINE);
  });
  return (server.address() as AddressInfo).port;
}

/** Says in the log that connections are refused: once in a while, because a flood must not fill the log. */
function warnOfRefused(logger: Logger): (address: string | null) => void {
  let quietUntil = 0;
  return (address) => {
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + WARN_EVERY;
    if (address === null) logger.warn("connections are refused: the API has as many as MAX_CONNECTIONS");
    else logger.warn({ address }, "connections are refused: an address has as many as MAX_ADDRESS_CONNECTIONS");
  };
}
