import type { Multiaddr } from "@multiformats/multiaddr";
import ipaddr from "ipaddr.js";

import { isPublicAddress } from "../outbound/addresses.ts";

/** Whether the node is in a private network: the operator named such peers, or none while it listens on this machine alone. */
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
 * Whether a node on the public network may connect to an address that some peer told it. Not into private networks, and
 * to names only where the operator gave them: a name may lead anywhere.
 */
export function mayDial(address: Multiaddr, bootstrap: Multiaddr[]): boolean {
  const { kind, host } = hostOf(address);
  if (kind === "ip") return isPublicAddress(host);
  return bootstrap.some((peer) => hostOf(peer).host === host);
}

export function hostOf(address: Multiaddr): { kind: "ip" | "name"; host: string } {
  const [first] = address.getComponents();
  return { kind: first?.name === "ip4" || first?.name === "ip6" ? "ip" : "name", host: first?.value ?? "" };
}
