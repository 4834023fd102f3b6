import ipaddr from "ipaddr.js";

/** Private addresses that the service may connect to. */
export interface AddressPolicy {
  /** Host names or addresses, lower case, exempt from every check (`ALLOWED_PRIVATE_HOSTS`). */
  allowedHosts: ReadonlySet<string>;
  /** Whether loopback addresses are allowed (local chains only). */
  allowLoopback: boolean;
}

/** For messages about a forbidden address. */
export const HOW_TO_ALLOW = "The operator can allow its host with ALLOWED_PRIVATE_HOSTS.";

/** Azure's machines reach their platform at this address of a public range: metadata, keys and DNS. */
const AZURE_PLATFORM = "168.63.129.16";

/**
 * Whether this is a public unicast address. Private, link-local and cloud metadata addresses are not, and neither are IPv6
 * addresses that embed IPv4 ones.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (parsed.toString() === AZURE_PLATFORM) return false;
  // Public IPv6 addresses are in 2000::/3.
  return parsed.kind() === "ipv4" || parsed.match(ipaddr.parseCIDR("2000::/3"));
}

/** @param host as in the URL: a name, or an address (IPv6 without its brackets). */
export function mayConnect(host: string, address: string, policy: AddressPolicy): boolean {
  if (policy.allowedHosts.has(host.toLowerCase()) || isPublicAddress(address)) return true;
  return policy.allowLoopback && ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

/** Whether the host of a URL is a literal address that the policy forbids. Names are checked when they are resolved. */
export function isForbiddenUrl(url: URL, policy: AddressPolicy): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(host) && !mayConnect(host, host, policy);
}
