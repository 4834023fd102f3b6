import type { Multiaddr } from "@multiformats/multiaddr";
import ipaddr from "ipaddr.js";

import { isPublicAddress } from "../outbound/addresses.ts";

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

export function hostOf(address: Multiaddr): { kind: "ip" | "name"; host: string } {
  const [first] = address.getComponents();
  return { kind: first?.name === "ip4" || first?.name === "ip6" ? "ip" : "name", host: first?.value ?? "" };
}
