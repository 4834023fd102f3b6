import { withBitswap } from "@helia/bitswap";
import { identify } from "@libp2p/identify";
import { type KadDHT, kadDHT, passthroughMapper } from "@libp2p/kad-dht";
import { noise } from "@libp2p/noise";
import { type Ping, ping } from "@libp2p/ping";
import { tcp } from "@libp2p/tcp";
import { yamux } from "@libp2p/yamux";
import { multiaddr } from "@multiformats/multiaddr";
import { exporter } from "ipfs-unixfs-exporter";
import { createLibp2p } from "libp2p";
import type { CID } from "multiformats/cid";
import { sha256 } from "multiformats/hashes/sha2";

import { collect } from "./collect.ts";

interface Parts extends Record<string, unknown> {
  identify: unknown;
  ping: Ping;
  dht: KadDHT;
}

/** The part of Helia's bitswap that is used here. */
interface Broker {
  retrieve(cid: CID, options: { signal: AbortSignal }): Promise<Uint8Array>;
  stop(): Promise<void>;
}

/** Timeouts in milliseconds: for requests to other peers, and for local look-ups. */
const TIMEOUT = 240_000;
const KNOWN = 1_000;

/** An independent IPFS peer on this machine: Helia's bitswap, and the DHT. */
export class IpfsPeer {
  readonly #libp2p;
  readonly #bitswap: Broker;

  /** @param role in the DHT: other peers query servers, not clients. */
  static async start(
    role: "server" | "client" = "server",
    blocks: ReadonlyMap<string, Uint8Array> = new Map(),
  ): Promise<IpfsPeer> {
    const libp2p = await createLibp2p<Parts>({
      addresses: { listen: ["/ip4/127.0.0.1/tcp/0"] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: {
        identify: identify(),
        ping: ping(),
        dht: kadDHT({ clientMode: role === "client", peerInfoMapper: passthroughMapper }),
      },
    });
    const brokers: Broker[] = [];
    const mixins: { start(node: object): Promise<void> }[] = [];
    const node = {
      status: "starting",
      libp2p,
      logger: libp2p.logger,
      blockstore: {
        has: (cid: CID) => Promise.resolve(blocks.has(cid.toString())),
        *get(cid: CID) {
          yield blocks.get(cid.toString());
        },
      },
      routing: { findProviders: () => [] },
      getHasher: () => sha256,
      addMixin: (mixin: { start(node: object): Promise<void> }) => mixins.push(mixin),
      hasBlockBroker: () => false,
      addBlockBroker: (broker: Broker) => brokers.push(broker),
    };
    withBitswap(node);
    for (const mixin of mixins) await mixin.start(node);
    return new IpfsPeer(libp2p, brokers[0]!);
  }

  private constructor(libp2p: Awaited<ReturnType<typeof createLibp2p<Parts>>>, bitswap: Broker) {
    this.#libp2p = libp2p;
    this.#bitswap = bitswap;
  }

  get peerId(): string {
    return this.#libp2p.peerId.toString();
  }

  get addresses(): string[] {
    return this.#libp2p.getMultiaddrs().map((address) => address.toString());
  }

  /** Ids of the connected peers. */
  get connectedTo(): string[] {
    return [...new Set(this.#libp2p.getConnections().map(({ remotePeer }) => remotePeer.toString()))];
  }

  async connect(addresses: string[]): Promise<void> {
    await this.#libp2p.dial(addresses.map((address) => multiaddr(address)));
  }

  /** Asks its peers for a block. */
  block(cid: CID, signal: AbortSignal = AbortSignal.timeout(TIMEOUT)): Promise<Uint8Array> {
    return this.#bitswap.retrieve(cid, { signal });
  }

  /** Requests the blocks of a file from its peers, all concurrently, and joins them. @param path `<cid>[/<name>]` */
  async file(path: string): Promise<Buffer> {
    const bitswap = this.#bitswap;
    const signal = AbortSignal.timeout(TIMEOUT);
    const source = {
      async *get(cid: CID) {
        yield await bitswap.retrieve(cid, { signal });
      },
    };
    const entry = await exporter(path, source);
    if (entry.type !== "file" && entry.type !== "raw") throw new Error(`${path} is no file`);
    return Buffer.concat(await collect(entry.content()));
  }

  /** Ids of the peers that have announced the content to this node. */
  async providers(cid: CID): Promise<string[]> {
    // Known providers come first. Without any, the search would continue at other peers, and the test does not wait for it.
    const signal = AbortSignal.timeout(KNOWN);
    try {
      for await (const event of this.#libp2p.services.dht.findProviders(cid, { signal })) {
        if (event.name === "PROVIDER") return event.providers.map(({ id }) => id.toString());
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return [];
  }

  /** Announces to its peers that it has the content. */
  async provide(cid: CID): Promise<void> {
    await collect(this.#libp2p.services.dht.provide(cid, { signal: AbortSignal.timeout(TIMEOUT) }));
  }

  async stop(): Promise<void> {
    await this.#bitswap.stop();
    await this.#libp2p.stop();
  }
}
