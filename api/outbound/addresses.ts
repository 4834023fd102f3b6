import ipaddr from "ipaddr.js";

/** Which private addresses may be reached all the same. */
export interface AddressPolicy {
  /** Host names or addresses, lower case, exempt from every check (`ALLOWED_PRIVATE_HOSTS`). */
  allowedHosts: ReadonlySet<string>;
  /** Whether this machine itself may be reached (local chains only). */
  allowLoopback: boolean;
}

/**
 * Whether a server on the internet could have this address. Everything else (private, link-local, cloud metadata,
 * addresses that embed others) is refused.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  // Of IPv6 only what is assigned to the internet: 2000::/3.
  return parsed.kind() === "ipv4" || parsed.match(ipaddr.parseCIDR("2000::/3"));
}

/** @param host as in the URL: a name, or an address (IPv6 without its brackets). */
export function mayConnect(host: string, address: string, policy: AddressPolicy): boolean {
  if (policy.allowedHosts.has(host.toLowerCase()) || isPublicAddress(address)) return true;
  return policy.allowLoopback && ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

/** Whether a URL leads, with no name to look up, to an address that must not be reached. */
export function isForbiddenUrl(url: URL, policy: AddressPolicy): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(host) && !mayConnect(host, host, policy);
}
