import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";

import { Agent, buildConnector } from "undici";

import { type AddressPolicy, mayConnect } from "./addresses.ts";

/** What connects to URLs that users gave. */
export type OutboundAgent = Agent;

/** A URL given by a user leads where the service must not go. */
export class BlockedAddressError extends Error {
  override readonly name = "BlockedAddressError";
  readonly code = "BLOCKED_ADDRESS";
}

/**
 * Connections to URLs that users gave. The check sits where the connection is made, so that a name cannot answer one
 * address to a check and another to the connection; a name with any forbidden address is refused whole.
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
        callback(new BlockedAddressError(`${hostname} is not a public host`), "", 0);
        return;
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
  const connect = buildConnector({ lookup: guardedLookup, timeout: 10_000 });
  return new Agent({
    connect: (options, callback) => {
      // An address in the URL is connected to without any lookup.
      const host = options.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && !mayConnect(host, host, policy)) {
        callback(new BlockedAddressError(`${host} is not a public address`), null);
        return;
      }
      connect(options, callback);
    },
  });
}
