import { announcedAddresses, bootstrapPeers, listenAddresses } from "./multiaddrs.ts";
import { httpUrl } from "./parsers.ts";

/** The variables of IPFS, as in settings.ts. */
export const IPFS_VARIABLES = {
  IPFS_PIN_RPC: {
    schema: httpUrl,
    fallback: "none",
    description: "RPC address of a Kubo node (`http://...:5001`) at which everything that is hosted is pinned.",
  },
  IPFS_GATEWAY: {
    schema: httpUrl,
    fallback: "none",
    description:
      "An IPFS gateway (`https://...`) for `ipfs://` media that are not stored here; without it those are `media_unavailable`. It must know `?format=raw`, as Kubo and most public ones do: every block is checked.",
  },
  IPFS_LISTEN: {
    schema: listenAddresses,
    fallback: "none",
    description:
      "Where an IPFS node of the service's own listens (`/ip4/0.0.0.0/tcp/4001`), to serve and announce what is hosted; without it there is no such node.",
  },
  IPFS_ANNOUNCE: {
    schema: announcedAddresses,
    fallback: "`IPFS_LISTEN`",
    description: "Where others reach that node (`/ip4/<public address>/tcp/4001`), behind NAT for instance.",
  },
  IPFS_BOOTSTRAP: {
    schema: bootstrapPeers,
    fallback: "`bootstrap.libp2p.io` and others of the public network",
    description: "Peers that the node connects to first (`/ip4/.../tcp/4001/p2p/<peer id>`), or `none`.",
  },
} as const;

/** Peers through which nodes find into the public network: Kubo's list (config/bootstrap_peers.go), as far as TCP reaches. */
const PUBLIC_BOOTSTRAP = [
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBMjTezGAJN",
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmbLHAnMoJPWSCR5Zhtx6BHJX9KiKNN6tpvbUcqanj75Nb",
  "/dnsaddr/bootstrap.libp2p.io/p2p/QmcZf59bWwK5XFi76CZX8cbJ4BhTzzA3gU1ZjYZcYW3dwt",
  "/dnsaddr/va1.bootstrap.libp2p.io/p2p/12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8",
  "/ip4/104.131.131.82/tcp/4001/p2p/QmaCpDMGvV2BGHeYERUEnRQAwe3N8SzbUtfsmvsqQLuvuJ",
];

/** Multiaddrs throughout. */
export interface IpfsNodeSettings {
  listen: string[];
  /** Empty: those that it listens on. */
  announce: string[];
  /** Empty: it connects to nobody by itself. */
  bootstrap: string[];
}

/** @param read each variable's value, null where it is not set. @returns null when the service has no node of its own. */
export function ipfsNodeSettings(read: {
  listen: string[] | null;
  announce: string[] | null;
  bootstrap: string[] | null;
}): IpfsNodeSettings | null {
  const { listen, announce, bootstrap } = read;
  return listen === null ? null : { listen, announce: announce ?? [], bootstrap: bootstrap ?? PUBLIC_BOOTSTRAP };
}
