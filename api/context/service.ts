import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import type { Logger } from "pino";

import { ChainClient } from "../chain/client.ts";
import { createForeignContracts } from "../chain/foreign-contracts.ts";
import { LOCAL_CHAIN_ID, prepareLocally, withLocalOwner } from "../chain/local-contracts.ts";
import { Rpc } from "../chain/rpc.ts";
import type { Settings } from "../config/settings.ts";
import { Indexer } from "../indexer/indexer.ts";
import { BlockFiles } from "../ipfs/block-files.ts";
import type { IpfsNode } from "../ipfs-node/node.ts";
import { createWalletDeriver } from "../keys/wallet-deriver.ts";
import { Announcer } from "../media/announcer.ts";
import { Pinner } from "../media/pinner.ts";
import { MediaWorker } from "../media/worker.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import { createOutboundAgent } from "../outbound/agent.ts";
import { Lane } from "../relayer/lane.ts";
import { createSignals } from "../shared/signal.ts";
import { type Database, openDatabase } from "../store/db/database.ts";
import { allLanes } from "../store/sending/lanes.ts";
import { createApp } from "../v1/app.ts";
import { createHttpServer, stopHttpServer } from "../v1/server.ts";
import { Dispatcher } from "../webhooks/dispatcher.ts";
import { type ChainIdentity, establishIdentity } from "./chain-identity.ts";
import { checkLanes, checkSeed } from "./chain-state-check.ts";
import { confirmationsOf } from "./confirmations.ts";
import { loadKeys } from "./keys.ts";
import { openIpfsNode } from "./ipfs-node.ts";
import { createReadiness } from "./readiness.ts";
import { hostedBaseOf } from "./workplace.ts";

/** Milliseconds that calls under way get to finish when the service stops. */
const STOP_DEADLINE = 10_000;
/** Milliseconds between two looks at the head: a local chain makes its blocks at once. */
const POLL_LOCAL = 100;
const POLL = 1_000;
const WEI_PER_GWEI = 1_000_000_000n;

/** No copying of media takes nearly as long: what is left after that is of processes that died. In milliseconds. */
const DRAFTS_LAST = 24 * 3_600_000;

/** A running Moneta: whichever of its roles this process has. */
export interface Service {
  chainId: bigint;
  contracts: ChainIdentity["contracts"];
  database: Database;
  /** Where the API listens, or null without the role `api`. */
  port: number | null;
  /** The service's own IPFS node, or null without one. */
  ipfsNode: Pick<IpfsNode, "peerId" | "addresses"> | null;
  stop(): Promise<void>;
}

/**
 * Builds and starts everything that the settings ask for. The only place that does.
 * @throws StartupError, SeedFileError, DatabaseError when it cannot; nothing keeps running then.
 */
export async function startService(settings: Settings, logger: Logger): Promise<Service> {
  const database = await openDatabase(settings.databaseUrl);
  try {
    return await start(settings, logger, database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function start(settings: Settings, logger: Logger, database: Database): Promise<Service> {
  const client = new ChainClient(new Rpc(settings.rpcUrl));
  const hostedBase = hostedBaseOf(settings);
  const { chainId, contracts } = await establishIdentity(database, client, { ...settings, hostedBase });
  const local = chainId === LOCAL_CHAIN_ID;
  const { keyring, sealer } = await loadKeys(settings, local);
  await checkSeed(database, keyring);
  const laneIndexes = settings.roles.includes("relayer") ? await lanesToDrive(database, settings.lanes) : [];
  await checkLanes(database, client, keyring, laneIndexes);
  if (local) {
    const lanes = Array.from({ length: settings.lanes }, (_, index) => keyring.lane(index).address);
    await withLocalOwner(settings.rpcUrl, (owner) => prepareLocally(owner, contracts, { lanes, hostedBase }));
  }

  const signals = createSignals();
  const now = () => Date.now();
  const common = { database, client, contracts, signals, now };
  const addressPolicy = {
    allowedHosts: new Set(settings.allowedPrivateHosts.map((host) => host.toLowerCase())),
    allowLoopback: local,
  };
  const agent = createOutboundAgent(addressPolicy);
  const blocks = new BlockFiles(join(settings.dataDir, "blocks"));
  await blocks.removeDrafts(now() - DRAFTS_LAST);
  const found = await blocks.restoreQuarantined();
  if (found > 0)
    logger.warn({ blocks: found }, "a `media collect` that was interrupted had set blocks aside: they are back");
  const lanes = laneIndexes.map(
    (index) =>
      new Lane(index, {
        ...common,
        logger,
        read: database.read,
        keyring,
        chainId,
        maxItemGas: settings.limits.itemGas,
        maxFeePerGas: BigInt(settings.maxFeeGwei) * WEI_PER_GWEI,
        draining: index >= settings.lanes,
        resendPolicy: {
          rebroadcastAfter: settings.rebroadcastSeconds * 1000,
          replaceAfter: settings.replaceSeconds * 1000,
        },
      }),
  );
  const indexer = settings.roles.includes("indexer")
    ? new Indexer({
        ...common,
        logger,
        confirmations: confirmationsOf(settings, local),
        pollInterval: local ? POLL_LOCAL : POLL,
      })
    : null;
  const dispatcher = settings.roles.includes("webhooks")
    ? new Dispatcher({ database, sealer, agent, wake: signals.deliveries, logger, now })
    : null;

  const gateway = settings.ipfsGateway === null ? null : gatewayOf(settings.ipfsGateway, addressPolicy);
  const media = settings.roles.includes("media")
    ? new MediaWorker({
        database,
        blocks,
        signals,
        agent,
        gateway,
        maxBytes: settings.limits.mediaBytes,
        deadline: settings.limits.mediaSeconds * 1000,
        logger,
        now,
      })
    : null;

  const pinner =
    settings.roles.includes("media") && settings.ipfsPinRpc !== null
      ? new Pinner({ database, blocks, rpc: settings.ipfsPinRpc, wake: signals.hosted, logger, now })
      : null;

  const ipfsNode =
    settings.roles.includes("media") && settings.ipfsNode !== null
      ? await openIpfsNode({ ipfsNode: settings.ipfsNode, dataDir: settings.dataDir }, { blocks, logger })
      : null;
  const announcer =
    ipfsNode === null
      ? null
      : new Announcer({ database, announce: ipfsNode.announce, wake: signals.hosted, logger, now });

  const stopping = new AbortController();
  const parts = [...lanes, indexer, dispatcher, media, pinner, announcer].filter((part) => part !== null);
  const loops = parts.map((part) => part.run(stopping.signal));
  const stopLoops = async () => {
    stopping.abort();
    await Promise.allSettled(loops);
    await ipfsNode?.stop();
    await agent.close();
    await gateway?.agent.close();
  };
  let server: Server | null = null;
  if (settings.roles.includes("api")) {
    const app = createApp({
      settings,
      database,
      blocks,
      deriver: createWalletDeriver(keyring.walletsPublicKey),
      sealer,
      foreign: createForeignContracts(client),
      signals,
      addressPolicy,
      logger,
      readiness: createReadiness({ database, client, lanes, indexer }),
      chainId: Number(chainId),
    });
    try {
      server = await listen(createHttpServer(app), settings);
    } catch (error) {
      await stopLoops();
      throw error;
    }
  }
  return {
    chainId,
    contracts,
    database,
    port: server === null ? null : (server.address() as AddressInfo).port,
    ipfsNode,
    stop: stopper(server, stopLoops, database),
  };
}

/** Those of the settings, and those that an earlier setting had: what they began must end. */
async function lanesToDrive(database: Database, wanted: number): Promise<number[]> {
  const dropped = (await allLanes(database.read)).map((row) => row.lane).filter((lane) => lane >= wanted);
  return [...Array(wanted).keys(), ...dropped];
}

/** The operator's own gateway may be in a private network. Only what is asked of it may lead there. */
function gatewayOf(url: string, policy: AddressPolicy): { url: string; agent: ReturnType<typeof createOutboundAgent> } {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return { url, agent: createOutboundAgent({ ...policy, allowedHosts: new Set([...policy.allowedHosts, host]) }) };
}

function stopper(server: Server | null, stopLoops: () => Promise<void>, database: Database): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  return () => {
    stopped ??= (async () => {
      if (server !== null) await stopHttpServer(server, STOP_DEADLINE);
      await stopLoops();
      await database.close();
    })();
    return stopped;
  };
}

function listen(server: Server, settings: Pick<Settings, "port" | "host">): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(settings.port, settings.host, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
