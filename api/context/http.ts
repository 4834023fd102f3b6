import type { AddressInfo } from "node:net";

import type { Settings } from "../config/settings.ts";
import { createApp } from "../v1/app.ts";
import type { AppDeps } from "../v1/deps.ts";
import { createHttpServer, listen, stopHttpServer } from "../v1/server.ts";

/** Milliseconds that requests get to finish when the service stops. */
const STOP_DEADLINE = 10_000;

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
  const isProxy = (address: string) => isTrusted(address, 0);
  const server = await listen(createHttpServer(app, {}, { limits: settings.limits, isProxy }), settings);
  opened.defer(async () => {
    deps.streams.end();
    await stopHttpServer(server, STOP_DEADLINE);
  });
  return (server.address() as AddressInfo).port;
}
