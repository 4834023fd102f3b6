import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";

import { Agent, buildConnector } from "undici";

import { type AddressPolicy, mayConnect } from "./addresses.ts";

/** Connects to URLs that users gave. */
export type OutboundAgent = Agent;

/**
 * Milliseconds that an unused connection is kept, even if the server offers longer: otherwise servers could make the process keep
 * any number of connections. Most servers keep a connection for longer than this. One that the server closes just as it is used
 * again costs a try.
 */
const KEPT = 1_000;

/** Thrown when a URL leads to an address that the policy forbids. */
class BlockedAddressError extends Error {
  override readonly name = "BlockedAddressError";
  readonly code = "BLOCKED_ADDRESS";
}

/**
 * Makes connections to URLs that users gave (SSRF protection). The addresses are checked when the connection is made, so a
 * name cannot resolve to one address for the check and to another for the connection (DNS rebinding). A name with any
 * forbidden address is refused.
 */
export function createOutboundAgent(policy: AddressPolicy): Agent {
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) {
        callback(error, "", 0);
        return;
      }
      const first = addresses[0];
      if (first === undefined || addresses.some(({ address }) => !mayConnect(hostname, address, policy))) {
        callback(new BlockedAddressError(`${hostname} resolves to an address that is not public`), "", 0);
        return;
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ lookup: guardedLookup, timeout: 10_000 });
  return new Agent({
    keepAliveTimeout: KEPT,
    keepAliveMaxTimeout: KEPT,
    connect: (options, callback) => {
      // A literal address in the URL needs no lookup, so it is checked here.
      const host = options.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !mayConnect(host, host, policy)) {
        callback(new BlockedAddressError(`${host} is not a public address`), null);
        return;
      }
      connect(options, callback);
    },
  });
}
