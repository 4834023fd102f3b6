import type { AddressInfo } from "node:net";

import type { Logger } from "pino";

import { createAdoptables } from "../../chain/adoptable.ts";
import { createForeignContracts } from "../../chain/foreign.ts";
import { createReceiverReads } from "../../chain/receivers.ts";
import { watchBacklog } from "../../checks/backlog-watch.ts";
import type { Examination } from "../../checks/examine.ts";
import { createReadiness } from "../../checks/readiness.ts";
import { type Source, source } from "../../checks/source.ts";
import type { ServiceState } from "../../checks/state.ts";
import { localCommandLine } from "../../config/command-line.ts";
import { FOREIGN_CALL_GAS } from "../../config/limits.ts";
import { createWalletDeriver } from "../../keys/wallet-deriver.ts";
import { runWorkers } from "../../shared/work-loop.ts";
import { Presence } from "../../store/db/presence.ts";
import { readMeta } from "../../store/db/meta.ts";
import { createExpressApp } from "../../v1/app.ts";
import { createHttpServer, listen, stopHttpServer } from "../../v1/server.ts";
import { EventStreams } from "../../v1/streams/event-streams.ts";
import { hostedBaseOf } from "../chain-identity.ts";
import type { Context } from "../context.ts";
import { needed } from "../keys.ts";
import type { NamedWorker } from "../workers.ts";

/** Milliseconds that requests get to finish when the service stops. */
const STOP_DEADLINE = 10_000;
/** Milliseconds between two warnings that connections are refused. */
const WARN_EVERY = 60_000;

/**
 * Starts the HTTP API, and the workers that serve its answers.
 * @param workers those of the other roles of this process.
 * @param opened ends it.
 * @returns its port.
 */
export async function serveApi(
  context: Context,
  { state, workers }: { state: ServiceState; workers: readonly NamedWorker[] },
  opened: AsyncDisposableStack,
): Promise<number> {
  const { settings, database, chain, keys, content, signals, addressPolicy, logger, metrics, now } = context;
  const client = context.client.as("caller");
  const { relay } = chain.contracts;
  const streams = new EventStreams({ ...settings, read: database.read, stored: signals.deliveries, logger, metrics });
  runWorkers([{ worker: watchBacklog({ database, logger, now }) }, { worker: streams }], opened);
  const processes = await Presence.join("api", context, opened);
  const arrivals = { count: 0 };
  const app = createExpressApp({
    settings,
    database,
    blocks: content.blocks,
    deriver: createWalletDeriver(needed(keys.walletsPublicKey)),
    sealer: needed(keys.sealer),
    foreign: createForeignContracts(client, FOREIGN_CALL_GAS),
    adoptables: createAdoptables(client, chain, FOREIGN_CALL_GAS),
    receivers: createReceiverReads(client, { relay, gas: settings.limits.itemGas }),
    signals,
    addressPolicy,
    streams,
    arrivals,
    logger,
    metrics,
    readiness: createReadiness({ database, client, workers, logger }),
    state,
    doctor: createDoctor(context),
    apiProcesses: () => processes.count,
    chainId: Number(chain.chainId),
    localCli: chain.local ? localCommandLine(settings) : null,
    chainProblem: () => client.nodes.problem,
    relay,
  });
  const isTrusted = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  const isProxy = (address: string) => isTrusted(address, 0);
  const connections = { limits: settings.limits, isProxy, refused: warnOfRefused(logger), arrivals };
  const server = await listen(createHttpServer(app, {}, connections), settings);
  opened.defer(async () => {
    streams.end();
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
    else logger.warn({ address }, "connections are refused: an address has as many as it may");
  };
}

/**
 * A result is reused for `fresh` milliseconds, or for ten times as long as the checks took if that is more. So the checks never
 * take more than a tenth of the process's time, however often a browser asks. A call waits `timeout` milliseconds for a result.
 */
const DOCTOR = { fresh: 15_000, restFactor: 10, timeout: 20_000 };

/** The checks of `npm run cli -- doctor`, with the keys of this process. */
function createDoctor(context: Context): Source<Examination & { checkedAt: number }> {
  const { settings, database, client, keys, logger, now } = context;
  const { chainId, contracts } = context.chain;
  const { blocks } = context.content;
  const examineAll = async () => {
    // Loaded when the operator first looks.
    const { CHECKS, examine } = await import("../../checks/examine.ts");
    const { diskCheck, filesCheck, storeCheck } = await import("../../operate/media-checks.ts");
    const checkedAt = now();
    const genesis = (await readMeta(database.read, "genesis")) ?? "";
    const examined = {
      ...{ settings, database, client, thorough: false, now: checkedAt },
      chain: { chainId: chainId.toString(), genesis, contracts },
      keys: {
        ...keys,
        seedProblem: keys.keyring === null ? "This process does not have the seed." : null,
        sealerProblem: keys.sealer === null ? "This process does not have SECRET_KEYS." : null,
      },
      hostedBase: hostedBaseOf(settings),
    };
    const checks = [...CHECKS, diskCheck(settings.dataDir), storeCheck(blocks), filesCheck(blocks)];
    return { ...(await examine(examined, checks)), checkedAt };
  };
  return source("doctor", examineAll, { ...DOCTOR, logger });
}
