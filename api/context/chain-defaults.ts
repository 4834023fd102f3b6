import type { Settings } from "../config/settings.ts";

/*
 * Defaults that differ on a local chain, which mines each transaction at once and never drops a block by itself.
 */

/** Depth at which a block counts as final, unless CONFIRMATIONS is set. */
const CONFIRMATIONS_LOCAL = 1;
const CONFIRMATIONS = 12;
/** Seconds between two polls for new blocks, unless BLOCK_POLL_SECONDS is set. */
const BLOCK_POLL_LOCAL = 0.1;
const BLOCK_POLL = 1;

export function confirmationsOf(settings: Pick<Settings, "confirmations">, local: boolean): number {
  return settings.confirmations ?? (local ? CONFIRMATIONS_LOCAL : CONFIRMATIONS);
}

/** @returns milliseconds. */
export function blockPollOf(settings: Pick<Settings, "blockPollSeconds">, local: boolean): number {
  return 1000 * (settings.blockPollSeconds ?? (local ? BLOCK_POLL_LOCAL : BLOCK_POLL));
}
