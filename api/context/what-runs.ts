import { LOCAL_CHAIN_ID } from "../chain/local-contracts.ts";
import { localCommandLine } from "../config/command-line.ts";
import type { Settings } from "../config/settings.ts";
import type { Service } from "./service.ts";

export const STOPPING = "\nMoneta is stopping.";
export const STOPPED = "Moneta has stopped.";

/** What runs, and what to do next, for a person at a terminal. */
export function whatRuns(settings: Settings, service: Pick<Service, "port" | "metricsPort" | "chainId">): string {
  const { port, metricsPort, chainId } = service;
  const command = chainId === LOCAL_CHAIN_ID ? localCommandLine(settings) : "npm run cli --";
  return [
    port === null
      ? `Moneta runs on chain ${chainId.toString()}, with the roles ${settings.roles.join(", ")}.`
      : `Moneta serves ${settings.publicUrl} on chain ${chainId.toString()}.`,
    ...(port === null ? [] : [`For a link to the console: ${command} console`]),
    ...(metricsPort === null ? [] : [`Metrics: http://localhost:${metricsPort.toString()}/metrics`]),
    "Press Ctrl-C to stop.",
  ].join("\n");
}
