import { announcedAddresses, bootstrapPeers, listenAddresses } from "./multiaddrs.ts";
import { httpUrl } from "./parsers.ts";

/** The IPFS settings, included in `variables.ts`. */
export const IPFS_VARIABLES = {
  IPFS_PIN_RPC: {
    schema: httpUrl,
    fallback: "none",
    description: "RPC URL of a Kubo node (`http://...:5001`). All hosted content is pinned there.",
  },
  IPFS_GATEWAY: {
    schema: httpUrl,
    fallback: "none",
    description:
      "IPFS gateway (`https://...`) for `ipfs://` media that is not stored here. Without it such media fails with `media_unavailable`. The gateway must support `?format=raw`, as Kubo and most public gateways do: the service verifies the hash of every block.",
  },
  IPFS_LISTEN: {
    schema: listenAddresses,
    fallback: "none",
    description:
      "Addresses that the built-in IPFS node listens on (`/ip4/0.0.0.0/tcp/4001`). It serves and announces hosted content. Without this setting the node is off.",
  },
  IPFS_ANNOUNCE: {
    schema: announcedAddresses,
    fallback: "`IPFS_LISTEN`",
    description:
      "Public addresses of the built-in IPFS node (`/ip4/<public address>/tcp/4001`). Needed behind NAT, for example.",
  },
  IPFS_BOOTSTRAP: {
    schema: bootstrapPeers,
    fallback: "`bootstrap.libp2p.io` and others of the public network",
    description: "Peers that the IPFS node connects to first (`/ip4/.../tcp/4001/p2p/<peer id>`), or `none`.",
  },
} as const;

/** Entry points to the public network: the TCP addresses of Kubo's list (config/bootstrap_peers.go). */
const PUBLIC_BOOTSTRAP = [
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBMjTezGAJN",
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmbLHAnMoJPWSCR5Zhtx6BHJX9KiKNN6tpvbUcqanj75Nb",
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmcZf59bWwK5XFi76CZX8cbJ4BhTzzA3gU1ZjYZcYW3dwt",
  "/dnsaddr/va1.bootstrap.libp2p.io/p2p/12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8",
  "/ip4/104.131.131.82/tcp/4001/p2p/QmaCpDMGvV2BGHeYERUEnRQAwe3N8SzbUtfsmvsqQLuvuJ",
];

/** All values are multiaddrs. */
export interface IpfsNodeSettings {
  listen: string[];
  /** Empty: the listen addresses. */
  announce: string[];
  /** Empty: the node waits for others to connect. */
  bootstrap: string[];
}

/** @param read the variables' values; null when unset. @returns null when the IPFS node is off. */
export function ipfsNodeSettings(read: {
  listen: string[] | null;
  announce: string[] | null;
  bootstrap: string[] | null;
}): IpfsNodeSettings | null {
  const { listen, announce, bootstrap } = read;
  return listen === null ? null : { listen, announce: announce ?? [], bootstrap: bootstrap ?? PUBLIC_BOOTSTRAP };
}
