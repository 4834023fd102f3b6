import type { Logger } from "pino";

import { openBlocks } from "../blocks/open-blocks.ts";
import type { Role } from "../config/variables.ts";
import type { Settings } from "../config/settings.ts";
import type { BlockStore } from "../ipfs/block-store.ts";
import type { IpfsNode } from "../ipfs-node/node.ts";
import type { Gateway } from "../media/verified-blocks.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import { createOutboundAgent, type OutboundAgent } from "../outbound/agent.ts";
import type { Database } from "../store/db/database.ts";
import { requireMediaStore } from "./media-store.ts";
import { openIpfsNode } from "./ipfs-node.ts";

/** Milliseconds. Copying media never takes nearly as long, so an older draft is from a process that died. */
const DRAFT_MAX_AGE = 24 * 3_600_000;

/** Roles of processes that store or read blocks. */
const USERS: readonly Role[] = ["api", "media", "ipfs"];

/** Where content is stored, and where it comes from. */
export interface Content {
  blocks: BlockStore;
  /** Connects to URLs that users name. */
  agent: OutboundAgent;
  /** The operator's IPFS gateway, or null without one. */
  gateway: Gateway | null;
  /** The service's own IPFS node, or null without one. */
  ipfsNode: IpfsNode | null;
}

/**
 * Opens the block store, the outbound connections and the IPFS node.
 * @param opened takes over what must be closed, also when this fails half way.
 * @throws StartupError
 */
export async function openContent(
  settings: Settings,
  deps: { database: Database; addressPolicy: AddressPolicy; logger: Logger; now: () => number },
  opened: AsyncDisposableStack,
): Promise<Content> {
  const { addressPolicy, logger } = deps;
  const agent = createOutboundAgent(addressPolicy);
  opened.defer(() => agent.close());
  const { blocks, close } = openBlocks(settings.mediaStore, { dataDir: settings.dataDir, database: deps.database });
  opened.defer(close);
  if (settings.roles.some((role) => USERS.includes(role))) await prepareBlocks(blocks, deps);
  const gateway = settings.ipfsGateway === null ? null : gatewayOf(settings.ipfsGateway, addressPolicy);
  if (gateway !== null) opened.defer(() => gateway.agent.close());
  const ipfsNode =
    settings.roles.includes("ipfs") && settings.ipfsNode !== null
      ? await openIpfsNode({ ipfsNode: settings.ipfsNode, dataDir: settings.dataDir }, { blocks, logger })
      : null;
  if (ipfsNode !== null) opened.defer(() => ipfsNode.stop());
  return { blocks, agent, gateway, ipfsNode };
}

/** Checks the block store, and cleans up after processes that died. @throws StartupError */
async function prepareBlocks(
  blocks: BlockStore,
  { database, logger, now }: { database: Database; logger: Logger; now: () => number },
): Promise<void> {
  await requireMediaStore(database, blocks);
  await blocks.removeUnfinished(now() - DRAFT_MAX_AGE);
  const restored = await blocks.restoreQuarantined();
  if (restored > 0)
    logger.warn({ blocks: restored }, "restored blocks that an interrupted `media collect` had quarantined");
}

/** The operator's own gateway may be in a private network. Only requests to the gateway may connect there. */
function gatewayOf(url: string, policy: AddressPolicy): Gateway {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return { url, agent: createOutboundAgent({ ...policy, allowedHosts: new Set([...policy.allowedHosts, host]) }) };
}
