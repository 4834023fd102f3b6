import { join } from "node:path";

import type { Logger } from "pino";

import type { MediaUse } from "../../client/rules/media.ts";
import type { Settings } from "../config/settings.ts";
import type { Role } from "../config/variables.ts";
import type { BlockStore } from "../content/block-store.ts";
import type { Gateway } from "../content/copy/verified-blocks.ts";
import type { IpfsNode } from "../content/node/node.ts";
import { openBlocks } from "../content/store/open-blocks.ts";
import type { AddressPolicy } from "../outbound/addresses.ts";
import type { OutboundAgent } from "../outbound/agent.ts";
import type { Database } from "../store/db/database.ts";
import { chooseMediaStore, hasContent, readMediaPlace } from "../store/media/media-store.ts";
import { StartupError } from "./startup-error.ts";

/** Milliseconds. Copying media never takes nearly as long, so an older draft is from a process that died. */
const DRAFT_MAX_AGE = 24 * 3_600_000;

/** Roles of processes that store or read blocks, and of those that make requests to URLs of users. */
const USERS: readonly Role[] = ["api", "media", "ipfs"];
const CALLERS: readonly Role[] = ["media", "webhooks"];

/** Where content is stored, and where it comes from. */
export interface Content {
  blocks: BlockStore;
  /** Connects to URLs that users name; null in a process whose roles make no such requests. */
  agent: OutboundAgent | null;
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
  const { logger } = deps;
  const { roles } = settings;
  const calls = roles.some((role) => CALLERS.includes(role));
  const { agent, gateway } = calls
    ? await openOutbound(settings, deps.addressPolicy, opened)
    : { agent: null, gateway: null };
  const { dataDir, limits } = settings;
  const place = { dataDir, database: deps.database, keepFree: limits.freeDiskBytes };
  const blocks = openBlocks(settings.mediaStore, place);
  if (roles.some((role) => USERS.includes(role))) {
    await requireMediaStore(deps.database, blocks);
    // The process that strangers connect to only reads content.
    if (roles.some((role) => role !== "ipfs" && USERS.includes(role))) await cleanUpBlocks(blocks, deps);
  }
  const ipfsNode =
    roles.includes("ipfs") && settings.ipfsNode !== null
      ? await openIpfsNode({ ipfsNode: settings.ipfsNode, dataDir: settings.dataDir }, { blocks, logger })
      : null;
  if (ipfsNode !== null) opened.defer(() => ipfsNode.stop());
  return { blocks, agent, gateway, ipfsNode };
}

/** Cleans up after processes that died. */
async function cleanUpBlocks(
  blocks: BlockStore,
  { logger, now }: { logger: Logger; now: () => number },
): Promise<void> {
  await blocks.removeUnfinished(now() - DRAFT_MAX_AGE);
  const restored = await blocks.restoreQuarantined();
  if (restored > 0)
    logger.warn({ blocks: restored }, "restored blocks that an interrupted `media collect` had quarantined");
}

/**
 * What an operator command needs to copy files from URLs that others name.
 * @param gateways IPFS gateways that are asked after the one of the settings. @param local whether the chain is a local one.
 */
export async function openCopies(
  settings: Settings,
  { blocks, local, gateways }: { blocks: BlockStore; local: boolean; gateways: readonly string[] },
  opened: AsyncDisposableStack,
) {
  const addressPolicy = addressPolicyOf(settings, local);
  const { agent, gateway } = await openOutbound(settings, addressPolicy, opened);
  const inTurn = gateway === null ? [] : [gateway];
  for (const url of gateways) inTurn.push(await openGateway(url, addressPolicy, opened));
  const { copyInTurn } = await import("../content/copy/copy-media.ts");
  const deadline = settings.limits.mediaSeconds * 1_000;
  const deps = { blocks, agent, gateways: inTurn, keepDirectories: true, deadline };
  return (wanted: { url: string; use: MediaUse }, maxBytes: number, stop: AbortSignal) =>
    copyInTurn({ ...deps, maxBytes }, wanted, stop);
}

/** Which addresses URLs of users may lead to. @param local whether the chain is a local one, for development. */
export function addressPolicyOf({ allowedPrivateHosts: hosts }: Settings, local: boolean): AddressPolicy {
  return { allowedHosts: new Set(hosts.map((host) => host.toLowerCase())), allowLoopback: local };
}

/** Opens the connections to URLs that users name. Their code is loaded only where it is used. */
async function openOutbound(
  { ipfsGateway: url }: Settings,
  addressPolicy: AddressPolicy,
  opened: AsyncDisposableStack,
): Promise<{ agent: OutboundAgent; gateway: Gateway | null }> {
  const { createOutboundAgent } = await import("../outbound/agent.ts");
  const agent = createOutboundAgent(addressPolicy);
  opened.defer(() => agent.close());
  return { agent, gateway: url === null ? null : await openGateway(url, addressPolicy, opened) };
}

async function openGateway(url: string, addressPolicy: AddressPolicy, opened: AsyncDisposableStack): Promise<Gateway> {
  const { createOutboundAgent } = await import("../outbound/agent.ts");
  const agent = createOutboundAgent(withGateway(addressPolicy, url));
  opened.defer(() => agent.close());
  return { url, agent };
}

/** The operator's own gateway may be in a private network. Only requests to the gateway may connect there. */
function withGateway(policy: AddressPolicy, url: string): AddressPolicy {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return { ...policy, allowedHosts: new Set([...policy.allowedHosts, host]) };
}

/**
 * Starts the service's own IPFS node. Its packages are large, so they are loaded only here.
 * @throws StartupError
 */
async function openIpfsNode(
  settings: { ipfsNode: NonNullable<Settings["ipfsNode"]>; dataDir: string },
  deps: { blocks: BlockStore; logger: Logger },
): Promise<IpfsNode> {
  try {
    const { startIpfsNode } = await import("../content/node/node.ts");
    return await startIpfsNode({
      ...settings.ipfsNode,
      ...deps,
      identityFile: join(settings.dataDir, "ipfs-node.key"),
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new StartupError(describeFailure(error), { cause: error });
  }
}

function describeFailure(error: Error): string {
  if ("code" in error && error.code === "ERR_MODULE_NOT_FOUND") {
    return `IPFS_LISTEN is set, but the packages of the IPFS node are not installed: install the packages again as docs/install.md says, or unset IPFS_LISTEN. (${error.message})`;
  }
  if (error.name === "IdentityFileError") return error.message;
  return `The IPFS node cannot start: ${error.message}. Check that the addresses in IPFS_LISTEN are free.`;
}

/**
 * Checks that the block store of the settings has the hosted content, and that it works.
 * @throws StartupError
 */
async function requireMediaStore(database: Database, blocks: BlockStore): Promise<void> {
  const { store, movingFrom } = await readMediaPlace(database.read);
  if (movingFrom !== null) {
    throw new StartupError(
      `Hosted media are being moved from ${movingFrom} to ${store ?? ""}, and some are not copied yet. ` +
        `Run \`npm run cli -- media move --to ${store ?? ""}\` again, with MEDIA_STORE as before the move.`,
    );
  }
  if (store !== null && store !== blocks.name && (await hasContent(database.read))) {
    throw new StartupError(
      `Hosted media are in ${store}, but MEDIA_STORE says ${blocks.name}. Set MEDIA_STORE back, or copy the media first: ` +
        `\`MEDIA_STORE=${store} npm run cli -- media move --to ${blocks.name}\`.`,
    );
  }
  const problem = await blocks.problem();
  if (problem !== null) throw new StartupError(`Media cannot be stored (MEDIA_STORE). ${problem}`);
  if (store !== blocks.name) await database.write((trx) => chooseMediaStore(trx, blocks.name));
}
