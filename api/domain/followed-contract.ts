import { backoff } from "./backoff.ts";
import type { CollectionType } from "./command.ts";

/**
 * The states of a followed contract, defined only here. `checking`: the service has not yet asked it for its type. `followed`:
 * its logs are read. `reading`: an app has adopted it, and its past is being read. `quarantined`: it flooded or kept failing, and is
 * left alone for a time. `unsupported`: it is not an ERC721 or ERC1155 contract. No app follows it, and it is asked again later.
 */
export const CONTRACT_STATES = ["checking", "reading", "followed", "quarantined", "unsupported"] as const;
export type ContractState = (typeof CONTRACT_STATES)[number];

/** What a contract says about itself. */
export interface KnownContract {
  type: CollectionType;
  name: string | null;
}

/** What a contract says about itself that an app wants to adopt. */
export interface AdoptableContract {
  type: CollectionType;
  name: string;
  symbol: string;
  /** The zero address: it names none. */
  owner: string;
  /** Decimal; null: it tells none. */
  totalSupply: string | null;
  /** The newest block of the node before it was asked. */
  block: number;
}

/** Why a contract is in quarantine. `flood`: more transfer logs than allowed. `failing`: its reads exceeded their limits. */
export const QUARANTINE_REASONS = ["flood", "failing"] as const;
export type QuarantineReason = (typeof QUARANTINE_REASONS)[number];

/** Reads of a contract that fail one after the other before it is quarantined. */
export const FAILURES_ALLOWED = 3;

/** The first quarantine and the longest, in milliseconds. Each further one lasts twice as long as the one before. */
const FIRST_QUARANTINE = 60_000;
export const LONGEST_QUARANTINE = 86_400_000;

/** How long a quarantine lasts. @param earlier quarantines before it, without a long time of good behaviour in between. */
export function quarantineLength(earlier: number): number {
  return backoff({ first: FIRST_QUARANTINE, longest: LONGEST_QUARANTINE }, earlier);
}
