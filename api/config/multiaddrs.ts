import { isIPv4, isIPv6 } from "node:net";

import { base58btc } from "multiformats/bases/base58";
import { CID } from "multiformats/cid";
import { decode as decodeMultihash } from "multiformats/hashes/digest";

import { list } from "./parsers.ts";

/*
 * Parses comma-separated addresses of IPFS nodes. Only TCP: the built-in node speaks nothing else. libp2p is not used
 * for this because it takes long to load.
 */

/** Listen addresses. Port 0 picks a free port. */
export const listenAddresses = list.refine(
  (all) => isListOf(all, (parts) => isIpAddress(parts) && isTcp(parts.slice(2), 0)),
  "must list addresses such as /ip4/0.0.0.0/tcp/4001",
);

/** Public addresses of a node. */
export const announcedAddresses = list.refine(
  (all) => isListOf(all, (parts) => isHost(parts) && isTcp(parts.slice(2), 1)),
  "must list addresses such as /ip4/<address>/tcp/4001 or /dns4/<name>/tcp/4001",
);

/** Bootstrap peers. `none` gives an empty list. */
export const bootstrapPeers = list
  .refine(
    (all) => isNone(all) || isListOf(all, isPeerAddress),
    "must be none, or list addresses of peers such as /ip4/<address>/tcp/4001/p2p/<peer id>",
  )
  .transform((all) => (isNone(all) ? [] : all));

function isNone(all: string[]): boolean {
  return all.length === 1 && all[0] === "none";
}

function isListOf(all: string[], holds: (parts: string[]) => boolean): boolean {
  return all.length > 0 && all.every((text) => text.startsWith("/") && holds(text.slice(1).split("/")));
}

function isPeerAddress(parts: string[]): boolean {
  const at = parts.length - 2;
  if (!isPeer(parts.slice(at))) return false;
  const [kind, name] = parts;
  return kind === "dnsaddr" ? isName(name) && at === 2 : isHost(parts) && isTcp(parts.slice(2, at), 1);
}

function isHost(parts: string[]): boolean {
  const [kind = "", name] = parts;
  return isIpAddress(parts) || (["dns", "dns4", "dns6"].includes(kind) && isName(name));
}

function isIpAddress([kind, host = ""]: string[]): boolean {
  // libp2p does not support zones (fe80::1%eth0).
  return kind === "ip4" ? isIPv4(host) : kind === "ip6" && isIPv6(host) && !host.includes("%");
}

function isName(name = ""): boolean {
  return name.length <= 253 && /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(name);
}

function isTcp([kind, port = "", ...rest]: string[], least: number): boolean {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : -1;
  return kind === "tcp" && number >= least && number <= 65_535 && rest.length === 0;
}

/** A peer id: the hash of the public key, in base58 or as a CID. */
function isPeer([kind, id = ""]: string[]): boolean {
  if (kind !== "p2p") return false;
  try {
    if (/^(Qm|1)/.test(id)) decodeMultihash(base58btc.decode(`z${id}`));
    else CID.parse(id);
    return true;
  } catch {
    // Neither base58 nor a CID.
    return false;
  }
}
