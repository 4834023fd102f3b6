import { readFile } from "node:fs/promises";

import { bootstrap } from "@libp2p/bootstrap";
import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from "@libp2p/crypto/keys";
import { identify } from "@libp2p/identify";
import type { Libp2p, PrivateKey } from "@libp2p/interface";
import { type KadDHT, kadDHT, passthroughMapper, removePrivateAddressesMapper } from "@libp2p/kad-dht";
import { noise } from "@libp2p/noise";
import { type Ping, ping } from "@libp2p/ping";
import { tcp } from "@libp2p/tcp";
import { yamux } from "@libp2p/yamux";
import { multiaddr, type Multiaddr } from "@multiformats/multiaddr";
import ipaddr from "ipaddr.js";
import { createLibp2p } from "libp2p";
import type { CID } from "multiformats/cid";
import type { Logger } from "pino";

import { isPublicAddress } from "../../outbound/addresses.ts";
import { writeNewFile } from "../../shared/write-new-file.ts";
import type { BlockStore } from "../block-store.ts";
import { serveBlocks } from "./serve-blocks.ts";

interface IpfsNodeOptions {
  /** Multiaddrs, as in the settings. */
  listen: string[];
  /** Addresses to announce; empty: the ones in `listen`. */
  announce: string[];
  /** Peers to connect to at start; empty: wait for incoming connections. */
  bootstrap: string[];
  /** File of the private key. It is created if it does not exist. */
  identityFile: string;
  blocks: BlockStore;
  logger: Logger;
}

/** An IPFS node that serves the block store and announces its content. */
export interface IpfsNode {
  peerId: string;
  /** Announced addresses, with the peer id. */
  addresses: string[];
  /** Announces that this node has the content. @returns how many peers have recorded it. */
  announce: (root: CID, abort: AbortSignal) => Promise<number>;
  stop(): Promise<void>;
}

/** Further connections are closed, the least used first. */
const MAX_CONNECTIONS = 100;
/** Milliseconds for one announcement: finding the responsible peers and telling them. */
const ANNOUNCE_TIMEOUT = 180_000;

/** Services of libp2p that the node has. */
interface Parts extends Record<string, unknown> {
  identify: unknown;
  ping: Ping;
  dht: KadDHT;
}

/** @throws IdentityFileError, and libp2p's error when it cannot listen. */
export async function startIpfsNode(options: IpfsNodeOptions): Promise<IpfsNode> {
  const { blocks, logger } = options;
  const peers = options.bootstrap.map((peer) => multiaddr(peer));
  const isPrivate = isPrivateNetwork(
    options.listen.map((address) => multiaddr(address)),
    peers,
  );
  const libp2p: Libp2p<Parts> = await createLibp2p<Parts>({
    start: false,
    privateKey: await loadIdentity(options.identityFile),
    addresses: { listen: options.listen, announce: options.announce },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionManager: { maxConnections: MAX_CONNECTIONS },
    connectionGater: { denyDialMultiaddr: (address) => !isPrivate && !mayDial(address, peers) },
    peerDiscovery: options.bootstrap.length === 0 ? [] : [bootstrap({ list: options.bootstrap })],
    services: {
      identify: identify(),
      ping: ping(),
      dht: kadDHT({
        // A DHT server would store records of strangers.
        clientMode: true,
        peerInfoMapper: isPrivate ? passthroughMapper : removePrivateAddressesMapper,
      }),
    },
  });
  const served = await startAll(libp2p, blocks, logger);
  const announced = libp2p.getMultiaddrs();
  const node = { peerId: libp2p.peerId.toString(), addresses: announced.map((address) => address.toString()) };
  logger.info(node, "IPFS node started");
  if (!isPrivate && !announced.map(hostOf).some(({ kind, host }) => kind === "name" || isPublicAddress(host))) {
    logger.warn("no announced address of the IPFS node is public, so most peers cannot reach it: set IPFS_ANNOUNCE");
  }
  return {
    ...node,
    announce: (root, abort) => announce(libp2p.services.dht, root, abort),
    stop: async () => {
      await served.stop();
      await libp2p.stop();
    },
  };
}

async function startAll(libp2p: Libp2p<Parts>, blocks: BlockStore, logger: Logger): ReturnType<typeof serveBlocks> {
  try {
    await libp2p.start();
    return await serveBlocks(libp2p, blocks, logger);
  } catch (error) {
    await libp2p.stop();
    throw error;
  }
}

async function announce(dht: KadDHT, root: CID, abort: AbortSignal): Promise<number> {
  const signal = AbortSignal.any([abort, AbortSignal.timeout(ANNOUNCE_TIMEOUT)]);
  let recorded = 0;
  try {
    for await (const event of dht.provide(root, { signal })) {
      if (event.name === "PEER_RESPONSE" && event.messageName === "ADD_PROVIDER") recorded += 1;
    }
  } finally {
    // The database schedules repeated announcements, so libp2p must not repeat them too.
    await dht.cancelReprovide(root);
  }
  return recorded;
}

/** Whether the node is in a private network: a bootstrap peer is private, or there is none and it listens on loopback only. */
export function isPrivateNetwork(listen: Multiaddr[], bootstrap: Multiaddr[]): boolean {
  if (bootstrap.length === 0) {
    return listen.every((address) => ipaddr.process(hostOf(address).host).range() === "loopback");
  }
  return bootstrap.some((address) => {
    const { kind, host } = hostOf(address);
    return kind === "ip" && !isPublicAddress(host);
  });
}

/**
 * Whether a node on the public network may connect to an address that a peer announced. It may not connect to private
 * addresses, and to a name only if the operator configured it, because a name may resolve to any address.
 */
export function mayDial(address: Multiaddr, bootstrap: Multiaddr[]): boolean {
  const { kind, host } = hostOf(address);
  if (kind === "ip") return isPublicAddress(host);
  return bootstrap.some((peer) => hostOf(peer).host === host);
}

function hostOf(address: Multiaddr): { kind: "ip" | "name"; host: string } {
  const [first] = address.getComponents();
  return { kind: first?.name === "ip4" || first?.name === "ip6" ? "ip" : "name", host: first?.value ?? "" };
}

/** Thrown when the file of the node's private key cannot be used. The message never contains its content. */
export class IdentityFileError extends Error {
  override readonly name = "IdentityFileError";
}

/**
 * The private key of the node, made at the first start. The peer id is derived from it and is part of every announcement, so
 * the key must stay the same.
 * @throws IdentityFileError
 */
export async function loadIdentity(file: string): Promise<PrivateKey> {
  const known = await readIfThere(file);
  if (known !== null) return parse(file, known);
  const key = await generateKeyPair("Ed25519");
  if (await writeNewFile(file, `${Buffer.from(privateKeyToProtobuf(key)).toString("base64")}\n`)) return key;
  // Another process has written the file meanwhile.
  return parse(file, (await readIfThere(file)) ?? "");
}

function parse(file: string, text: string): PrivateKey {
  try {
    return privateKeyFromProtobuf(Buffer.from(text.trim(), "base64"));
  } catch {
    // Without the cause, which may quote the file.
    throw new IdentityFileError(
      `The file ${file} does not contain the key of an IPFS node. Restore it from a backup, or move it away to get a new key.`,
    );
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "?";
    if (code === "ENOENT") return null;
    throw new IdentityFileError(`The file ${file} cannot be read (${code}).`);
  }
}
